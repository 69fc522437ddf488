/**
 * Turns what is planned on a chain into a batch that passes simulation and is worth its gas, or returns why there is
 * none. Nothing is sent.
 */
import { Context, Effect, Layer, Option, Struct } from "effect"
import { grantOn } from "#domain/account/Grant.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { notWorthCost } from "#domain/planning/bands/policySkips.ts"
import type { ChainTask, PlannedWork } from "#domain/rebalance/BatchDrafts.ts"
import { BatchSimulator, type SimulatedDraft } from "#domain/rebalance/BatchSimulator.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { nothing, type Preparation, type Ready } from "#domain/rebalance/Preparation.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { chainSkip, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import type { PlannedLeg, PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import { recordedSwap } from "#domain/trading/Swap.ts"

/**
 * Batches that are worth their gas.
 *
 * **When to use**
 *
 * Use in `BatchPreparer` alone, which has the plan and repeats while a chain does not answer.
 */
export class ChainBatches extends Context.Service<
  ChainBatches,
  {
    /** The skips of the answer are the plan's and its own. */
    readonly prepare: (work: PlannedWork) => Effect.Effect<Preparation, ChainUnavailable>
  }
>()("ballast/domain/rebalance/ChainBatches") {
  static readonly layer = Layer.effect(
    ChainBatches,
    Effect.gen(function* () {
      const simulator = yield* BatchSimulator
      const gas = yield* GasBudget

      /** Why a batch that the chain accepts is not made after all. */
      const refusalOf = Effect.fnUntraced(function* (draft: SimulatedDraft, { prepared }: Ready) {
        const waste = yield* gas.waste(prepared.cost, valueOf(draft))
        if (Option.isSome(waste)) return gasSkip(waste.value)
        const expected = yield* gas.expectedUsd(prepared.cost)
        return Option.isNone(expected) ? undefined : unworthySkip(draft.plan.chain, expected.value)
      })

      /** What the chain accepts, when it is worth its gas. */
      const batchOf = Effect.fnUntraced(function* (task: ChainTask) {
        const draft = yield* simulator.simulate(task)
        const preparation = preparationOf(draft)
        if (preparation._tag !== "Ready") return preparation
        const refusal = yield* refusalOf(draft, preparation)
        return refusal === undefined ? preparation : nothing([...preparation.skips, refusal], null)
      })

      const prepare = Effect.fnUntraced(function* (work: PlannedWork) {
        const { context, plan } = work
        const { chainId, legs, skips, transfers = [] } = plan.chain
        if (legs.length + transfers.length === 0) return nothing(skips, null)
        const grant = grantOn(context.grants, chainId)
        const authorization = grant?.authorization.chains.find((chain) => chain.chainId === chainId)
        if (grant === undefined || authorization === undefined)
          return nothing(skips, `the owner did not authorize chain ${chainId}`)
        const refusal = yield* gas.refusal(context)
        if (Option.isSome(refusal)) return nothing([...skips, gasSkip(refusal.value)], refusal.value)
        return yield* Effect.catchTag(
          batchOf({ ...work, grant, authorization }),
          "AuthorizationRequired",
          ({ cause, permissionId, reason }) =>
            Effect.succeed<Preparation>({ _tag: "Unsigned", skips, permissionId, cause, reason })
        )
      })

      return ChainBatches.of({ prepare })
    })
  ).pipe(Layer.provide(BatchSimulator.layer))
}

/**
 * Why trades by a policy are not made after all: their gas as estimated, deployment included, is more than planned.
 */
const unworthySkip = ({ chainId, measures }: PlannedChain, gasUsd: bigint): RecordedSkip | undefined => {
  if (measures?.worth == null || gasUsd <= measures.worth.gasUsd) return undefined
  const { benefitUsd } = measures.worth
  const costUsd = measures.worth.costUsd - measures.worth.gasUsd + gasUsd
  return benefitUsd > costUsd
    ? undefined
    : Struct.omit(notWorthCost(chainId, { benefitUsd, costUsd, gasUsd }), ["chainId"])
}

const preparationOf = ({
  batch: { swaps, transfers = [] },
  failure,
  plan: { chain },
  prepared,
  skips
}: SimulatedDraft): Preparation =>
  prepared === null
    ? nothing(skips, failure)
    : ({
        _tag: "Ready",
        swaps: swaps.map(recordedSwap),
        ...(transfers.length === 0 ? {} : { transfers }),
        skips,
        ...(chain.measures === undefined ? {} : { measures: chain.measures }),
        prepared
      } satisfies Ready)

/** US dollars (wad) that the batch sells and sends, by the plan that it was made from. */
const valueOf = ({ batch: { swaps, transfers = [] }, plan: { chain } }: SimulatedDraft): bigint => {
  const isMade = (leg: PlannedLeg) => swaps.some(({ buy, sell }) => buy === leg.buy && sell === leg.sell)
  const isSent = (one: PlannedTransfer) => transfers.some(({ buy }) => buy === one.buy)
  const values = [...chain.legs.filter(isMade), ...(chain.transfers ?? []).filter(isSent)]
  return values.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
}

const gasSkip = (reason: string): RecordedSkip => chainSkip(SkipCode.gasRefused, reason)
