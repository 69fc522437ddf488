/** A portfolio with accounts on two chains and a target over both, written straight to the stores. */
import { DateTime, Effect } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { evmAccount, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { type Authorization, PermissionId } from "#domain/account/Authorization.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import * as Ids from "#domain/values/Ids.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { addressOf } from "#layers/evm/address.ts"

const bytes32 = (byte: string) => `0x${byte.repeat(32)}`

/** Half on each chain: 30 percent WETH and 20 percent USDC. */
export const target: Allocation = [
  { assetId: baseWeth.assetId, weight: 3000 },
  { assetId: baseUsdc.assetId, weight: 2000 },
  { assetId: arbWeth.assetId, weight: 3000 },
  { assetId: arbUsdc.assetId, weight: 2000 }
]

let owners = 0n

export const setPrices = Effect.gen(function* () {
  const { prices } = yield* TestChain
  prices.set(baseUsdc.assetId, Decimal.one)
  prices.set(arbUsdc.assetId, Decimal.one)
  prices.set(baseWeth.assetId, 2500n * Decimal.one)
  prices.set(arbWeth.assetId, 2500n * Decimal.one)
  prices.set(baseBtc.assetId, 60_000n * Decimal.one)
})

const bridgeFrom = (from: typeof baseUsdc, to: typeof baseUsdc, contract: EvmAddress) => ({
  contract,
  token: addressOf(from.assetId),
  destinations: [{ chainId: to.chainId, token: addressOf(to.assetId) }] as const
})

/** What the owner of a portfolio signed, as an enrollment leaves it. */
export interface Signed {
  readonly assets: ReadonlyArray<Asset>
  readonly allocation: Allocation
  readonly authorization: Authorization
  readonly ownerSignature: string
}

/** Writes tenant, strategy and portfolio. */
export const storedPortfolio = Effect.fnUntraced(function* (signed: Signed) {
  const { allocation, assets, authorization, ownerSignature } = signed
  yield* (yield* AssetStore).upsertAssets(assets)
  const createdAt = yield* DateTime.now
  const tenantId = yield* Ids.makeTenantId
  yield* (yield* TenantStore).insertTenant({
    tenantId,
    name: "Acme",
    email: "a@acme.test",
    entitlements: [],
    createdAt,
    disabledAt: null
  })
  const strategyId = yield* Ids.makeStrategyId
  yield* (yield* StrategyStore).insert({
    strategyId,
    tenantId,
    name: "Halves",
    description: null,
    allocation,
    schedule: { type: "interval", frequency: "daily" },
    swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
    isPublic: false,
    version: 1,
    createdAt
  })
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
  const smartAccounts = authorization.chains.map(({ accountId }) => accountId)
  const enrollments = yield* EnrollmentStore
  yield* enrollments.insertFlow(flow)
  const committed = yield* enrollments.commit(
    { portfolioId, name: null, flow, ownerSignature, dueAt: DateTime.add(createdAt, { days: 1 }), createdAt },
    { _tag: "Enrolled", portfolioId, portfolioName: null, strategyId, smartAccounts }
  )
  if (committed._tag !== "Committed")
    return yield* Effect.die(new Error(`The portfolio was not stored: ${committed._tag}`))
  return { tenantId, strategyId, portfolioId }
})

/** A guard that nobody asks, whose permission never ends. */
const guardOf = (contract: EvmAddress) => ({
  contract,
  issuedAt: 0,
  validUntil: 4_000_000_000,
  tradeBps: 0,
  budgetBps: 0
})

/** A portfolio over the market in memory, whose chains check no signature. */
export const marketPortfolio = Effect.fnUntraced(function* (owner: EvmAddress, connected: boolean, isGuarded = false) {
  yield* setPrices
  const accounts = [evmAccount(baseUsdc.chainId, owner), evmAccount(arbUsdc.chainId, owner)] as const
  const authorization: Authorization = {
    _tag: "Evm",
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner),
    withdrawalDomainName: "Ballast Withdrawal Authorization",
    accountIndex: 0n,
    agentAccountId: evmWallet(owner),
    chains: [
      {
        chainId: baseUsdc.chainId,
        accountId: accounts[0],
        permissionId: PermissionId.make("0x00000001"),
        digest: bytes32("aa"),
        policy: {
          _tag: "Evm" as const,
          router: owner,
          connectorTokens: [],
          tokens: [baseWeth, baseUsdc, baseBtc].map(({ assetId }) => addressOf(assetId)),
          ...(isGuarded ? { guard: guardOf(owner) } : {}),
          ...(connected ? { bridge: bridgeFrom(baseUsdc, arbUsdc, owner) } : {})
        }
      },
      {
        chainId: arbUsdc.chainId,
        accountId: accounts[1],
        permissionId: PermissionId.make("0x00000001"),
        digest: bytes32("bb"),
        policy: {
          _tag: "Evm" as const,
          router: owner,
          connectorTokens: [],
          tokens: [arbWeth, arbUsdc].map(({ assetId }) => addressOf(assetId)),
          ...(connected ? { bridge: bridgeFrom(arbUsdc, baseUsdc, owner) } : {})
        }
      }
    ],
    root: bytes32("cc")
  }
  const stored = yield* storedPortfolio({
    assets: [...catalogue.values()],
    allocation: target,
    authorization,
    ownerSignature: bytes32("dd")
  })
  return { ...stored, accounts }
})

const enrolled = (connected: boolean) =>
  Effect.suspend(() => {
    owners += 1n
    const owner = Eip55.checksum(`0x${(0xd00d0000n + owners).toString(16).padStart(40, "0")}`) as EvmAddress
    return marketPortfolio(owner, connected)
  })

/** Value stays on its chain. */
export const enrolledPortfolio = enrolled(false)

/** The owner let USDC move between the two chains. */
export const connectedPortfolio = enrolled(true)
