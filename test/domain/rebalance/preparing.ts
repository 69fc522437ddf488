/** A preparer of batches with everything around it, for one portfolio with an account on Base. */
import { DateTime, Effect, Layer } from "effect"
import { type Authorization, PermissionId } from "#domain/account/Authorization.ts"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import { evmAccount } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { type RunContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { GasLedger } from "#domain/relay/GasLedger.ts"
import { Venue } from "#domain/trading/Venue.ts"
import type { ServiceSettings } from "#src/config/settings.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { setPrices } from "#test/support/enrolledPortfolio.ts"
import { testSettingsWith } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { addressOf } from "#layers/evm/address.ts"

export const account = evmAccount(baseUsdc.chainId, addressOf(baseWeth.assetId))
export const operationId = "op_01J00000000000000000000000" as OperationId

export const context: RunContext = {
  operationId,
  tenantId: "tn_01J00000000000000000000000" as TenantId,
  portfolioId: "pf_01J00000000000000000000000" as PortfolioId,
  strategyVersion: 1,
  allocation: [],
  swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  tenantSwap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  grants: [
    {
      authorization: {
        _tag: "Evm",
        accountType: "ECDSA",
        ownerAccountId: `eip155:0:${addressOf(baseWeth.assetId)}` as Authorization["ownerAccountId"],
        withdrawalDomainName: "Ballast Withdrawal Authorization",
        accountIndex: 0n,
        agentAccountId: `eip155:0:${addressOf(baseWeth.assetId)}` as Authorization["agentAccountId"],
        chains: [
          {
            chainId: baseUsdc.chainId,
            accountId: account,
            permissionId: PermissionId.make("0x00000001"),
            digest: `0x${"aa".repeat(32)}`,
            policy: { _tag: "Evm", router: addressOf(baseWeth.assetId), connectorTokens: [], tokens: [] }
          }
        ],
        root: `0x${"bb".repeat(32)}`
      },
      ownerSignature: "0x"
    }
  ],
  reserved: [],
  awaited: [baseUsdc.chainId],
  closedRoutes: []
}

const leg = (sell: typeof baseUsdc, sellAmountRaw: bigint, expectedBuyRaw: bigint) => ({
  sell: sell.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw,
  valueUsd: 2500n * Decimal.one,
  expectedBuyRaw
})
export const usdcLeg = leg(baseUsdc, 2_500_000_000n, 997_000_000_000_000_000n)
export const btcLeg = leg(baseBtc, 1_000_000n, 239_280_000_000_000_000n)

export const planOf = (plannedAt: DateTime.Utc, legs: ReadonlyArray<typeof usdcLeg>): RunPlan => ({
  strategyVersion: 1,
  plannedAt,
  limits: { slippageBps: 50, priceImpactBps: 100 },
  chains: [{ chainId: baseUsdc.chainId, legs, skips: [] }]
})

/** The planner that a preparer asks for a fresh plan: it finds nothing left to do. */
export const nothingLeft = Layer.succeed(RunPlanner, {
  plan: () => Effect.map(DateTime.now, (now) => planOf(now, [])),
  preview: () => Effect.map(DateTime.now, (now) => planOf(now, [usdcLeg]))
})
/** Chains whose required signature was cleared, in order. */
export const cleared: Array<number> = []
const signatures = Layer.mock(RequiredSignatures, {
  clear: (_, chainId) => Effect.asVoid(Effect.sync(() => cleared.push(chainId)))
})
/** Answers the plan that it was given again, however old. */
export const sameAgain = Layer.succeed(RunPlanner, {
  plan: () => Effect.map(DateTime.now, (now) => planOf(now, [usdcLeg])),
  preview: () => Effect.map(DateTime.now, (now) => planOf(now, [usdcLeg]))
})
/** What was spent of the day's gas; tests write it. */
export const gasOfDay = { portfolio: 0n, tenant: 0n, owner: 0n }

/** A preparer of the portfolio over the market in memory; the venue of that market unless another is given. */
export const preparerFor = (
  grantsOf: RunContext,
  planner: typeof nothingLeft,
  { settings = {}, venue }: { readonly settings?: Partial<ServiceSettings>; readonly venue?: Venue["Service"] } = {}
) =>
  (venue === undefined ? BatchPreparer.layer : Layer.provide(BatchPreparer.layer, Layer.succeed(Venue, venue))).pipe(
    Layer.provide([
      Layer.mock(RunStore, { context: () => Effect.succeedSome(grantsOf) }),
      signatures,
      planner,
      GasBudget.layer.pipe(Layer.provide(Layer.succeed(GasLedger, { spent: () => Effect.sync(() => gasOfDay) })))
    ]),
    Layer.provide(testSettingsWith(settings)),
    Layer.provideMerge(TestChains)
  )
export const Preparer = preparerFor(context, nothingLeft)

export const attempt = (number: number) => ({ operationId, chainId: baseUsdc.chainId, attempt: number })

/** Prepares the first chain of a plan that was made so many seconds ago. */
export const prepared = Effect.fnUntraced(function* (number: number, ageSeconds: number, legs = [usdcLeg]) {
  yield* setPrices
  const plannedAt = DateTime.subtract(yield* DateTime.now, { seconds: ageSeconds })
  return yield* Effect.flatMap(BatchPreparer, (preparer) =>
    preparer.prepare(attempt(number), planOf(plannedAt, legs), number > 1)
  )
})

/** The account holds 10,000 dollars. */
export const funded = Effect.flatMap(TestChain, (market) =>
  Effect.sync(() => market.fund(account, baseUsdc.assetId, 10_000_000_000n))
)
