/** Rows that the suites of the stores build on. */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { erc20, evmAccount, type ChainId, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { type Authorization, PermissionId } from "#domain/account/Authorization.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import { EnrollmentStore, type NewPortfolio } from "#domain/enrollment/EnrollmentStore.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import * as Ids from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { DueStore } from "#domain/rebalance/DueStore.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

export const base = 8453 as ChainId
export const arbitrum = 42161 as ChainId

/** Noon of a day, and milliseconds after it. */
export const noon = DateTime.makeUnsafe("2026-03-01T12:00:00.000Z")
export const after = (milliseconds: number) => DateTime.add(noon, { milliseconds })

let counter = 0n

/** An address that no other call returns. */
export const newAddress = () => {
  counter += 1n
  return Eip55.checksum(`0x${(0xabcdef00n + counter).toString(16).padStart(40, "0")}`) as EvmAddress
}

export const usdc = erc20(base, Eip55.checksum("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913") as EvmAddress)
export const weth = erc20(base, Eip55.checksum("0x4200000000000000000000000000000000000006") as EvmAddress)

export const insertTenant = Effect.gen(function* () {
  const tenantId = yield* Ids.makeTenantId
  const store = yield* TenantStore
  yield* store.insertTenant({
    tenantId,
    name: "Acme",
    email: "ops@acme.test",
    entitlements: [],
    createdAt: noon,
    disabledAt: null
  })
  return tenantId
})

export const newStrategy = Effect.fnUntraced(function* (tenantId: Ids.TenantId, frequency: Frequency = "daily") {
  return {
    strategyId: yield* Ids.makeStrategyId,
    tenantId,
    name: "Blue chips",
    description: "Half and half",
    allocation: [
      { assetId: usdc, weight: 4000 },
      { assetId: weth, weight: 6000 }
    ],
    schedule: { type: "interval", frequency },
    swap: { slippageBps: 50, priceImpactBps: null, thresholdUsd: 5_000_000_000_000_000_001n },
    isPublic: false,
    canMirror: false,
    maxApy: null,
    version: 1,
    createdAt: noon
  } satisfies Strategy as Strategy
})

export const insertStrategy = Effect.fnUntraced(function* (tenantId: Ids.TenantId, frequency: Frequency = "daily") {
  const strategy = yield* newStrategy(tenantId, frequency)
  yield* (yield* StrategyStore).insert(strategy)
  return strategy
})

const bytes32 = (fill: string) => `0x${fill.repeat(32)}`

export const newAuthorization = (owner: EvmAddress, accountIndex: bigint): Authorization => {
  const account = newAddress()
  const chain = (chainId: ChainId) => ({
    chainId,
    accountId: evmAccount(chainId, account),
    permissionId: PermissionId.make("0x01020304"),
    policy: { _tag: "Evm" as const, router: newAddress(), connectorTokens: [], tokens: [newAddress()] },
    digest: bytes32("aa")
  })
  return {
    _tag: "Evm",
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner),
    withdrawalDomainName: "Ballast Withdrawal Authorization",
    accountIndex,
    agentAccountId: evmWallet(newAddress()),
    chains: [chain(base), chain(arbitrum)],
    root: bytes32("bb")
  }
}

export const insertFlow = Effect.fnUntraced(function* (strategy: Strategy, owner: EvmAddress, accountIndex = 0n) {
  const flow: EnrollmentFlow = {
    flowId: yield* Ids.makeFlowId,
    tenantId: strategy.tenantId,
    purpose: { _tag: "Enroll" },
    strategyId: strategy.strategyId,
    authorization: newAuthorization(owner, accountIndex),
    createdAt: noon,
    expiresAt: after(86_400_000)
  }
  yield* (yield* EnrollmentStore).insertFlow(flow)
  return flow
})

export const newPortfolio = Effect.fnUntraced(function* (
  flow: EnrollmentFlow,
  times: Partial<Pick<NewPortfolio, "createdAt" | "dueAt">> = {}
) {
  const portfolioId = yield* Ids.makePortfolioId
  return {
    portfolioId,
    name: "Savings",
    flow,
    ownerSignature: "0xabcd",
    dueAt: after(5_000),
    createdAt: noon,
    ...times
  } satisfies NewPortfolio
})

export const outcomeOf = (portfolio: NewPortfolio) => ({
  _tag: "Enrolled" as const,
  portfolioId: portfolio.portfolioId,
  portfolioName: portfolio.name,
  strategyId: portfolio.flow.strategyId,
  smartAccounts: portfolio.flow.authorization.chains.map((chain) => chain.accountId)
})

/** Enrolls a new owner. */
export const insertPortfolio = Effect.fnUntraced(function* (
  strategy: Strategy,
  times: Partial<Pick<NewPortfolio, "createdAt" | "dueAt">> = {}
) {
  const flow = yield* insertFlow(strategy, newAddress())
  const portfolio = yield* newPortfolio(flow, times)
  const result = yield* (yield* EnrollmentStore).commit(portfolio, outcomeOf(portfolio))
  if (result._tag !== "Committed")
    return yield* Effect.die(new Error(`The portfolio was not made: ${JSON.stringify(result)}`))
  return portfolio
})

/** A tenant with a strategy and a portfolio. */
export const world = Effect.fnUntraced(function* (frequency: Frequency = "daily") {
  const tenantId = yield* insertTenant
  const strategy = yield* insertStrategy(tenantId, frequency)
  const portfolio = yield* insertPortfolio(strategy)
  return { tenantId, strategy, portfolio, portfolioId: portfolio.portfolioId }
})

/** Triggers a manual run without cooldown. */
export const submit = Effect.fnUntraced(function* (
  tenantId: Ids.TenantId,
  portfolioId: Ids.PortfolioId,
  {
    cooldownMs = 0,
    now = noon
  }: { readonly now?: typeof noon | undefined; readonly cooldownMs?: number | undefined } = {}
) {
  const operationId = yield* Ids.makeOperationId
  const submission = yield* (yield* OperationStore).submitManual({
    operationId,
    tenantId,
    portfolioId,
    now,
    cooldownMs
  })
  return { operationId, submission }
})

/** Claims up to `limit` due portfolios and gives each a run, as if a drift check had found none on target. */
export const claimDue = Effect.fnUntraced(function* (now: DateTime.Utc, limit: number) {
  const store = yield* DueStore
  const { due, checkId } = yield* store.claim(now, now, limit)
  const { operationIds } = yield* store.complete(
    now,
    checkId,
    due.map((one) => ({ ...one, onTargetAt: null }))
  )
  return operationIds
})

/** Pauses every schedule, so that claims of one test never see portfolios of another. */
export const pauseAll = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE schedules SET status = 'paused'`)

/** Makes a strategy mirrorable, as the operator does; a public one is listed in discovery then. */
export const makeMirrorable = (strategyId: Ids.StrategyId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE strategies SET can_mirror = true WHERE strategy_id = ${strategyId}`
  )
