/** Fills the database through the service's own stores: one tenant with a key, one strategy, many portfolios. */
import { DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { databaseLayer, poolSize } from "#bench/http/benchDatabase.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import { addressOf, type ChainId, erc20, evmAccount, type EvmAddress, evmWallet } from "#domain/Caip.ts"
import * as Eip55 from "#domain/Eip55.ts"
import type { Authorization } from "#domain/enrollment/Authorization.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import * as Ids from "#domain/Ids.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { AssetStore } from "#layers/sql/AssetStore.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

export const portfolioCount = 10_000

const base = 8453 as ChainId
const arbitrum = 42161 as ChainId

/** What a run needs to ask the servers. */
export interface Seeded {
  /** The API key, with the scopes that every key has. */
  readonly secret: string
  readonly pepper: string
  readonly portfolioIds: ReadonlyArray<Ids.PortfolioId>
}

/** Distinct addresses: the number in the low bytes, a letter per kind in front. */
const address = (kind: string, n: number): EvmAddress =>
  Eip55.checksum(`0x${kind}${n.toString(16).padStart(39, "0")}`) as EvmAddress

const bytes32 = `0x${"5a".repeat(32)}`
const weth = address("e", 1)
const usdc = address("e", 2)

/** The catalogue; the service does not start with an empty one. */
const assets: ReadonlyArray<Asset> = [base, arbitrum].flatMap((chainId) => [
  { assetId: erc20(chainId, weth), chainId, symbol: "WETH", name: "Wrapped Ether", decimals: 18, isBlocked: false },
  { assetId: erc20(chainId, usdc), chainId, symbol: "USDC", name: "USD Coin", decimals: 6, isBlocked: false }
])

const permissionOn = (chainId: ChainId, n: number) => ({
  chainId,
  accountId: evmAccount(chainId, address("c", n)),
  permissionId: "0x5a5a5a5a",
  digest: bytes32,
  policy: { router: address("d", 1), hubs: [weth], tokens: [weth, usdc] }
})

const authorizationOf = (n: number): Authorization => ({
  accountType: "ECDSA",
  ownerAccountId: evmWallet(address("a", n)),
  accountIndex: 0n,
  withdrawalDomainName: "Ballast Withdrawal Authorization",
  agentAccountId: evmWallet(address("b", 1)),
  chains: [permissionOn(base, n), permissionOn(arbitrum, n)],
  root: bytes32
})

const insertStrategy = Effect.fnUntraced(function* (tenantId: Ids.TenantId) {
  const strategyId = yield* Ids.makeStrategyId
  yield* (yield* StrategyStore).insert({
    strategyId,
    tenantId,
    name: "Blue chips",
    description: "Half ether, half dollars, on two chains.",
    allocation: assets.map(({ assetId }) => ({ assetId, weight: 2_500 })),
    schedule: { type: "interval", frequency: "monthly" },
    swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
    isPublic: false,
    version: 1,
    createdAt: yield* DateTime.now
  })
  return strategyId
})

/** Enrolls owner `n`; due in a month, so that the scheduler leaves the portfolio alone while it is measured. */
const insertPortfolio = Effect.fnUntraced(function* (tenantId: Ids.TenantId, strategyId: Ids.StrategyId, n: number) {
  const enrollments = yield* EnrollmentStore
  const createdAt = yield* DateTime.now
  const authorization = authorizationOf(n)
  const expiresAt = DateTime.add(createdAt, { days: 1 })
  const purpose = { _tag: "Enroll" } as const
  const flow = { flowId: yield* Ids.makeFlowId, tenantId, purpose, strategyId, authorization, createdAt, expiresAt }
  const portfolioId = yield* Ids.makePortfolioId
  const name = `Savings of ${addressOf(authorization.ownerAccountId)}`
  yield* enrollments.insertFlow(flow)
  const dueAt = DateTime.add(createdAt, { days: 30 })
  const smartAccounts = authorization.chains.map(({ accountId }) => accountId)
  const committed = yield* enrollments.commit(
    { portfolioId, name, flow, ownerSignature: bytes32, dueAt, createdAt },
    { _tag: "Enrolled", portfolioId, portfolioName: name, strategyId, smartAccounts }
  )
  return committed === "Committed"
    ? portfolioId
    : yield* Effect.die(new Error(`Portfolio ${n} was refused: ${committed}`))
})

const stores = (database: string, pepper: string) =>
  Tenants.layer.pipe(
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(databaseLayer(database)),
    Layer.provide(KeyHashLive.pipe(Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make(pepper) }))))
  )

const fill = Effect.gen(function* () {
  const tenants = yield* Tenants
  const { tenantId } = yield* tenants.create({ name: "Northwind", email: "ops@northwind.example", entitlements: [] })
  const { secret } = yield* tenants.createKey(tenantId, { name: "bench", scopes: [], expiresAt: null })
  yield* (yield* AssetStore).upsertAssets(assets)
  const strategyId = yield* insertStrategy(tenantId)
  const numbers = Array.from({ length: portfolioCount }, (_, index) => index + 1)
  const portfolioIds = yield* Effect.forEach(numbers, (n) => insertPortfolio(tenantId, strategyId, n), {
    concurrency: poolSize
  })
  // So that no background vacuum falls into the measured rounds.
  yield* (yield* SqlClient.SqlClient)`VACUUM (ANALYZE)`
  return { secret: Redacted.value(secret), portfolioIds }
})

export const seed = Effect.fn("seed")(function* (database: string) {
  const pepper = Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(32))
  const filled = yield* fill.pipe(Effect.provide(stores(database, pepper)))
  return { pepper, ...filled } satisfies Seeded
}, Effect.provide(SecureRandom.layerWebCrypto))
