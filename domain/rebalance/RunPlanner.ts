/** Looks at a portfolio as it stands and plans its rebalance. */
import { Context, Effect, Layer, Struct } from "effect"
import type { Plan } from "#domain/rebalance/Plan.ts"
import { plan } from "#domain/rebalance/planRebalance.ts"
import { PlanReader, type Restraint } from "#domain/rebalance/PlanReader.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import type { SwapLimits } from "#domain/strategy/resolveSwap.ts"

export class RunPlanner extends Context.Service<
  RunPlanner,
  {
    /** Never fails for an outside reason: a chain or price that cannot be read is a skip of the plan. */
    readonly plan: (context: PlanContext, restraint?: Restraint) => Effect.Effect<RunPlan>
  }
>()("ballast/domain/rebalance/RunPlanner") {
  static readonly layer = Layer.effect(
    RunPlanner,
    Effect.gen(function* () {
      const reader = yield* PlanReader

      const planRun = Effect.fn("RunPlanner.plan")(function* (context: PlanContext, restraint?: Restraint) {
        const [reading] = yield* reader.read([context], { restraint })
        const { input, limits, readAt } = reading!
        return { strategyVersion: context.strategyVersion, plannedAt: readAt, ...toRunPlan(limits, plan(input)) }
      })

      return RunPlanner.of({ plan: planRun })
    })
  ).pipe(Layer.provide(PlanReader.layer))
}

const toRunPlan = (
  { slippageBps, priceImpactBps }: SwapLimits,
  { chains }: Plan
): Pick<RunPlan, "limits" | "chains"> => ({
  limits: { slippageBps, priceImpactBps },
  chains: chains.map(({ chainId, legs, skips, transfers }) => ({
    chainId,
    ...(transfers.length === 0
      ? {}
      : { transfers: transfers.map((transfer) => Struct.omit(transfer, ["fromChainId", "toChainId"])) }),
    legs: legs.map(({ sell, buy, sellAmountRaw, valueUsd, expectedBuyRaw }) => ({
      sell,
      buy,
      sellAmountRaw,
      valueUsd,
      expectedBuyRaw
    })),
    skips: skips.map((skip) => Struct.omit(skip, ["chainId"]))
  }))
})
