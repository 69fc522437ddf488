/**
 * Fills the database through the service's own stores: one tenant with a key, some strategies, many portfolios, and a
 * finished operation for those that are polled.
 */
import { DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { databaseLayer, poolSize } from "#bench/http/benchDatabase.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import { addressOf, type ChainId, erc20, evmAccount, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { type Authorization, PermissionId } from "#domain/account/Authorization.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import * as Ids from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

/** Strategies of the tenant; more than a page of the list that is measured. */
export const strategyCount = 12

/** How many portfolios there are, and of how many of them positions and an operation are polled. */
export interface Size {
  readonly portfolios: number
  readonly polled: number
}

const base = 8453 as ChainId
const arbitrum = 42161 as ChainId

/** What a run needs to ask the servers. */
export interface Seeded {
  /** The API key, with the scopes that every key has. */
  readonly secret: string
  readonly pepper: string
  readonly portfolioIds: ReadonlyArray<Ids.PortfolioId>
  readonly polled: ReadonlyArray<{ readonly portfolioId: Ids.PortfolioId; readonly operationId: Ids.OperationId }>
}

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

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
  permissionId: PermissionId.make("0x5a5a5a5a"),
  digest: bytes32,
  policy: { _tag: "Evm" as const, router: address("d", 1), connectorTokens: [weth], tokens: [weth, usdc] }
})

const authorizationOf = (n: number): Authorization => ({
  _tag: "Evm",
  accountType: "ECDSA",
  ownerAccountId: evmWallet(address("a", n)),
  accountIndex: 0n,
  withdrawalDomainName: "Ballast Withdrawal Authorization",
  agentAccountId: evmWallet(address("b", 1)),
  chains: [permissionOn(base, n), permissionOn(arbitrum, n)],
  root: bytes32
})

const swaps: ReadonlyArray<SwapPreferences> = [
  { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  { slippageBps: 50, priceImpactBps: 100, thresholdUsd: 5n * Decimal.one },
  { slippageBps: null, priceImpactBps: 30, thresholdUsd: Decimal.one / 8n }
]

const insertStrategy = Effect.fnUntraced(function* (tenantId: Ids.TenantId, n: number) {
  const strategyId = yield* Ids.makeStrategyId
  yield* (yield* StrategyStore).insert({
    strategyId,
    tenantId,
    name: `Blue chips ${n}`,
    description: n % 2 === 0 ? null : "Half ether, half dollars, on two chains.",
    allocation: assets.map(({ assetId }) => ({ assetId, weight: 2_500 })),
    schedule: { type: "interval", frequency: "monthly" },
    swap: swaps[n % swaps.length]!,
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
  return committed._tag === "Committed"
    ? portfolioId
    : yield* Effect.die(new Error(`Portfolio ${n} was refused: ${committed._tag}`))
})

/** A manual rebalance of the portfolio that has come to its end, so that no engine takes it up. */
const insertOperation = Effect.fnUntraced(function* (tenantId: Ids.TenantId, portfolioId: Ids.PortfolioId) {
  const operations = yield* OperationStore
  const operationId = yield* Ids.makeOperationId
  const now = yield* DateTime.now
  yield* operations.submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
  yield* operations.transition({ operationId, to: "running", at: now, error: null })
  yield* operations.transition({ operationId, to: "completed", at: DateTime.add(now, { seconds: 12 }), error: null })
  return { portfolioId, operationId }
})

const stores = (database: string, pepper: string) =>
  Tenants.layer.pipe(
    Layer.provide(AccessChanges.layer),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(databaseLayer(database)),
    Layer.provide(KeyHashLive.pipe(Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make(pepper) }))))
  )

const fill = Effect.fnUntraced(function* (size: Size) {
  const tenants = yield* Tenants
  const sql = yield* SqlClient.SqlClient
  const { tenantId } = yield* tenants.create({ name: "Northwind", email: "ops@northwind.example", entitlements: [] })
  const { secret } = yield* tenants.createKey(tenantId, { name: "bench", scopes: [], expiresAt: null })
  yield* (yield* AssetStore).upsertAssets(assets)
  const strategyIds = yield* Effect.forEach(numbersTo(strategyCount), (n) => insertStrategy(tenantId, n))
  const portfolioIds = yield* Effect.forEach(
    numbersTo(size.portfolios),
    (n) => insertPortfolio(tenantId, strategyIds[n % strategyCount]!, n),
    { concurrency: poolSize }
  )
  const polled = yield* Effect.forEach(portfolioIds.slice(0, size.polled), (id) => insertOperation(tenantId, id))
  // So that neither the first valuation of all portfolios nor a background vacuum falls into the measured rounds.
  yield* sql`INSERT INTO portfolio_snapshots (portfolio_id, claimed_at) SELECT portfolio_id, now() FROM portfolios`
  yield* sql`VACUUM (ANALYZE)`
  return { secret: Redacted.value(secret), portfolioIds, polled }
})

export const seed = Effect.fn("seed")(function* (database: string, size: Size) {
  const pepper = Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(32))
  const filled = yield* fill(size).pipe(Effect.provide(stores(database, pepper)))
  return { pepper, ...filled } satisfies Seeded
}, Effect.provide(SecureRandom.layerWebCrypto))
