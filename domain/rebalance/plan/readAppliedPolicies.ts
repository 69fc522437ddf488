/**
 * Reads what policies are applied with: how much the assets move, by their recorded daily prices; what operations on
 * their chains cost; and what the portfolios' runs of the last week have cost.
 */
import { DateTime, Effect, Option } from "effect"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import { NativeAssets } from "#domain/chain/NativeAssets.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { Prices } from "#domain/market/Prices.ts"
import { volatility } from "#domain/market/volatility.ts"
import type { ChainGas, PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { intervalMs } from "#domain/mandate/RebalanceSchedule.ts"
import { lookbackDays, type PolicyFacts, planPolicyOf } from "#domain/rebalance/plan/planPolicyOf.ts"
import { CostLedger } from "#domain/rebalance/plan/CostLedger.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import type { Slicing } from "#domain/trading/Slicing.ts"
import { resolvePolicy } from "#domain/strategy/resolvePolicy.ts"
import { type SwapLimits, SwapSettings } from "#domain/strategy/SwapSettings.ts"

const weekDays = 7

/** The policy of one portfolio. */
export interface AppliedPolicy {
  /** Once the portfolio's value is known (US dollars, wad). */
  readonly at: (valueUsd: bigint, limits: SwapLimits) => PlanPolicy
  /** Absent: trades are made whole or not at all. */
  readonly slicing?: Slicing
}

/** One for each context, in their order; undefined where no policy is followed. Never fails for an outside reason. */
export const makeReadAppliedPolicies = Effect.gen(function* () {
  const daily = yield* DailyPriceStore
  const prices = yield* Prices
  const ledger = yield* CostLedger
  const costs = yield* ChainCosts
  const natives = yield* NativeAssets
  const { minTradeUsd } = yield* SwapSettings

  const gasOf = Effect.fnUntraced(function* (chainIds: ReadonlyArray<ChainId>) {
    const known = yield* Effect.option(prices.latest(chainIds.flatMap((chainId) => natives.get(chainId) ?? [])))
    const read = yield* Effect.forEach(
      chainIds,
      Effect.fnUntraced(function* (chainId) {
        const native = natives.get(chainId)
        const usd = native === undefined ? undefined : Option.getOrUndefined(known)?.get(native)?.usd
        if (usd === undefined) return []
        const expected = yield* costs.read(chainId)
        if (Option.isNone(expected)) return []
        const usdOf = (native: bigint) => (native * usd) / Decimal.one
        const { operation, swap } = expected.value
        const gas: ChainGas = { operationUsd: usdOf(operation), swapUsd: usdOf(swap) }
        return [[chainId, gas] as const]
      }),
      { concurrency: "unbounded" }
    )
    return new Map(read.flat())
  })

  const volatilitiesOf = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>, now: DateTime.Utc) {
    const series = yield* daily.read(assetIds, Day.add(Day.of(now), -lookbackDays))
    return new Map(
      [...series].flatMap(([assetId, history]) => {
        const found = volatility(history)
        return found === undefined ? [] : [[assetId, found] as const]
      })
    )
  })

  return Effect.fnUntraced(function* (contexts: ReadonlyArray<PlanContext>) {
    const policies = contexts.map(policyOf)
    const following = contexts.filter((_, index) => policies[index] !== undefined)
    if (following.length === 0) return contexts.map(() => undefined)
    const now = yield* DateTime.now
    const assetIds = new Set(following.flatMap(({ allocation }) => allocation.map(({ assetId }) => assetId)))
    const chainIds = new Set([
      ...[...assetIds].map(chainIdOf),
      ...following.flatMap(({ grants }) => authorizedChains(grants).map(({ chainId }) => chainId))
    ])
    const sliced = contexts.filter((_, index) => policies[index]?.slicing !== undefined)
    const limited = contexts.filter((_, index) => policies[index]?.maxCostBps?.week !== undefined)
    const [gas, volatilities, spent, sold] = yield* Effect.all(
      [
        gasOf([...chainIds]),
        volatilitiesOf([...assetIds], now),
        limited.length === 0
          ? Effect.succeed(new Map<string, bigint>())
          : ledger.spent(
              limited.map(({ portfolioId }) => portfolioId),
              DateTime.subtract(now, { days: weekDays })
            ),
        sliced.length === 0
          ? Effect.succeed(new Map<string, Slicing["sold"]>())
          : ledger.sold(
              sliced.map(({ portfolioId }) => portfolioId),
              DateTime.subtract(now, { days: 1 })
            )
      ],
      { concurrency: "unbounded" }
    )
    return contexts.map((context, index): AppliedPolicy | undefined => {
      const policy = policies[index]
      if (policy === undefined) return undefined
      const spentUsd = spent.get(context.portfolioId) ?? 0n
      const measured = { gas, volatility: volatilities, spentUsd, minTradeUsd }
      const { poolShareBps } = policy.slicing ?? {}
      const slicing = poolShareBps !== undefined && {
        slicing: { poolShareBps, minUsd: minTradeUsd, sold: sold.get(context.portfolioId) ?? [] }
      }
      return { at: applied(policy, context, measured), ...slicing }
    })
  })
})

const policyOf = ({ acceptedSwap, rebalancePolicy, tenantPolicy }: PlanContext) =>
  resolvePolicy({ strategy: rebalancePolicy, tenant: tenantPolicy, isMirrored: acceptedSwap !== undefined })

const applied =
  (
    policy: RebalancePolicy,
    { frequency = "daily" }: PlanContext,
    measured: Pick<PolicyFacts, "gas" | "volatility" | "spentUsd" | "minTradeUsd">
  ): AppliedPolicy["at"] =>
  (valueUsd, { slippageBps }) =>
    planPolicyOf(policy, {
      ...measured,
      valueUsd,
      slippageBps,
      secondsToNextCheck: intervalMs[frequency] / 1_000
    })
