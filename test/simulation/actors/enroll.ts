/** Writes a tenant, strategies and portfolios to the real stores, as an enrollment leaves them. */
import { DateTime, Effect } from "effect"
import { type SecureRandom } from "effect/crypto"
import { type AssetId, type AccountId, evmAccount, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { type Authorization, type ChainAuthorization, PermissionId } from "#domain/account/Authorization.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import * as Ids from "#domain/values/Ids.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { arbUsdc, baseUsdc, catalogue } from "#test/support/assets.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import { addressOf } from "#layers/evm/address.ts"

export interface SimulatedPortfolio {
  readonly tenantId: Ids.TenantId
  readonly strategyId: Ids.StrategyId
  readonly portfolioId: Ids.PortfolioId
  readonly accounts: ReadonlyArray<AccountId>
  readonly recipient: EvmAddress
}

const bytes32 = (byte: string) => `0x${byte.repeat(32)}`
const addressFrom = (number: bigint) => Eip55.checksum(`0x${number.toString(16).padStart(40, "0")}`) as EvmAddress

/** Some of the assets, at random weights that add up to the whole. */
export const drawAllocation = (random: Random): Allocation => {
  const chosen = [...catalogue.keys()].filter(() => random.chance(0.7))
  const ids = chosen.length === 0 ? [baseUsdc.assetId] : chosen
  const weights = ids.map(() => random.between(1, 20))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const shares = weights.map((weight) => Math.max(1, Math.floor((weight * 10_000) / sum)))
  shares[0] = shares[0]! + 10_000 - shares.reduce((total, share) => total + share, 0)
  return ids.map((assetId, index) => ({ assetId, weight: shares[index]! }))
}

const chainOf = (
  { from, to }: { readonly from: typeof baseUsdc; readonly to: typeof baseUsdc },
  owner: EvmAddress,
  connected: boolean
) => {
  const tokens = [...catalogue.values()].filter(({ chainId }) => chainId === from.chainId)
  const chain: ChainAuthorization = {
    chainId: from.chainId,
    accountId: evmAccount(from.chainId, owner),
    permissionId: PermissionId.make("0x00000001"),
    digest: bytes32(from === baseUsdc ? "aa" : "bb"),
    policy: {
      _tag: "Evm",
      router: owner,
      connectorTokens: [],
      tokens: tokens.map(({ assetId }) => addressOf(assetId)),
      ...(connected
        ? {
            bridge: {
              contract: owner,
              token: addressOf(from.assetId),
              destinations: [{ chainId: to.chainId, token: addressOf(to.assetId) }] as const
            }
          }
        : {})
    }
  }
  return chain
}

const enrollOne = Effect.fnUntraced(function* ({
  connected,
  dueAfterMinutes,
  number,
  strategyId,
  tenantId
}: {
  /** Whether the owner allowed to exchange value between the chains. */
  readonly connected: boolean
  readonly dueAfterMinutes: number
  readonly number: number
  readonly strategyId: Ids.StrategyId
  readonly tenantId: Ids.TenantId
}) {
  const createdAt = yield* DateTime.now
  const owner = addressFrom(0xd00d0000n + BigInt(number))
  const authorization: Authorization = {
    _tag: "Evm",
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner),
    withdrawalDomainName: "Ballast Withdrawal Authorization",
    accountIndex: 0n,
    agentAccountId: evmWallet(owner),
    chains: [
      chainOf({ from: baseUsdc, to: arbUsdc }, owner, connected),
      chainOf({ from: arbUsdc, to: baseUsdc }, owner, connected)
    ],
    root: bytes32("cc")
  }
  const accounts = authorization.chains.map(({ accountId }) => accountId)
  const flow = {
    flowId: yield* Ids.makeFlowId,
    tenantId,
    purpose: { _tag: "Enroll" as const },
    strategyId,
    authorization,
    createdAt,
    expiresAt: DateTime.add(createdAt, { days: 1 })
  }
  const portfolioId = yield* Ids.makePortfolioId
  const store = yield* EnrollmentStore
  yield* store.insertFlow(flow)
  const dueAt = DateTime.add(createdAt, { minutes: dueAfterMinutes })
  yield* store.commit(
    { portfolioId, name: null, flow, ownerSignature: bytes32("dd"), dueAt, createdAt },
    { _tag: "Enrolled", portfolioId, portfolioName: null, strategyId, smartAccounts: accounts }
  )
  const recipient = addressFrom(0xcafe0000n + BigInt(number))
  return { tenantId, strategyId, portfolioId, accounts, recipient } satisfies SimulatedPortfolio
})

/** Everything that there is when a simulation begins, but for money. */
export const enroll = (
  random: Random
): Effect.Effect<
  ReadonlyArray<SimulatedPortfolio>,
  never,
  AssetStore | TenantStore | StrategyStore | EnrollmentStore | SecureRandom.SecureRandom
> =>
  Effect.gen(function* () {
    yield* (yield* AssetStore).upsertAssets([...catalogue.values()])
    const createdAt = yield* DateTime.now
    const tenantId = yield* Ids.makeTenantId
    const tenants = yield* TenantStore
    yield* tenants.insertTenant({
      tenantId,
      name: "Acme",
      email: "a@acme.test",
      entitlements: [],
      createdAt,
      disabledAt: null
    })
    const portfolios: Array<SimulatedPortfolio> = []
    // A crowd comes to the chains together, where what does not leave for another one may share a transaction.
    const isCrowd = random.chance(0.35)
    const together = isCrowd ? random.between(1, 20) : undefined
    for (let strategies = isCrowd ? 1 : random.between(1, 2); strategies > 0; strategies--) {
      const strategyId = yield* Ids.makeStrategyId
      yield* Effect.orDie(
        (yield* StrategyStore).insert({
          strategyId,
          tenantId,
          name: `Mix ${strategies}`,
          description: null,
          allocation: drawAllocation(random),
          schedule: { type: "interval", frequency: random.pick<Frequency>(["hourly", "hourly", "daily"]) },
          swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
          isPublic: false,
          version: 1,
          createdAt
        })
      )
      for (let count = isCrowd ? random.between(5, 9) : random.between(1, 2); count > 0; count--) {
        const dueAfterMinutes = together ?? random.between(1, 60)
        const number = portfolios.length
        portfolios.push(
          yield* enrollOne({
            connected: random.chance(isCrowd ? 0.2 : 0.75),
            dueAfterMinutes,
            number,
            strategyId,
            tenantId
          })
        )
      }
    }
    return portfolios
  })

export const assetsOn = (account: AccountId): ReadonlyArray<AssetId> =>
  [...catalogue.values()]
    .filter(({ chainId }) => account.startsWith(`eip155:${chainId}:`))
    .map(({ assetId }) => assetId)
