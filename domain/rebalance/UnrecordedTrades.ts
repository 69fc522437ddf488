/**
 * Trades of a run that are on chain and not in the database, as after a failover to a replica that lacks the last
 * commits. Such a replica may have the plan of a run and not that it was carried out: acting on that plan again would
 * trade twice what is to be traded once.
 *
 * The chain is read when the next batch has been prepared, whatever came of it: when an earlier one lands in between,
 * both have the same nonce of the account.
 */
import { Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { authorizedChains } from "#domain/account/Grant.ts"
import { addressOf, type AssetId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Preparation } from "#domain/rebalance/Preparation.ts"
import type { PlannedChain, RunPlan } from "#domain/rebalance/plan/RunPlan.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { minAgeOfLoss, OperationMarks } from "#domain/relay/OperationMarks.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { Swap } from "#domain/trading/Swap.ts"

/** What the chain shows of a run. Stored with the step that read it. */
export const Unrecorded = Schema.Union([
  Schema.TaggedStruct("Landed", { receipt: ActionReceipt, swaps: Schema.Array(Swap) }),
  /** It landed in a block that does not count yet. */
  Schema.TaggedStruct("Pending", {})
])
export type Unrecorded = typeof Unrecorded.Type

/**
 * Trades that are on chain and not in the database.
 *
 * **When to use**
 *
 * Use after a batch was prepared and before it is signed.
 */
export class UnrecordedTrades extends Context.Service<
  UnrecordedTrades,
  {
    /** Undefined where the chain shows nothing of the run, and where nothing can be lost. */
    readonly find: (
      attempt: AttemptId,
      plan: RunPlan,
      preparation: Preparation
    ) => Effect.Effect<Unrecorded | undefined, ChainUnavailable>
  }
>()("ballast/domain/rebalance/UnrecordedTrades") {
  static readonly layer = Layer.effect(
    UnrecordedTrades,
    Effect.gen(function* () {
      const marks = yield* OperationMarks
      const runs = yield* RunStore

      const find = Effect.fn("UnrecordedTrades.find")(function* (
        { chainId, operationId }: AttemptId,
        { chains, plannedAt }: RunPlan,
        preparation: Preparation
      ): Effect.fn.Return<Unrecorded | undefined, ChainUnavailable> {
        const age = DateTime.distance(plannedAt, yield* DateTime.now)
        if (Duration.isLessThan(age, minAgeOfLoss)) return undefined
        const { grants } = yield* Effect.orDie(Effect.flatMap(runs.context(operationId), Effect.fromOption))
        const account = authorizedChains(grants).find((chain) => chain.chainId === chainId)
        if (account === undefined) return undefined
        const found = yield* marks.find({
          chainId: account.chainId,
          accountId: account.accountId,
          operationId,
          since: plannedAt,
          fromBlock: madeIn(preparation)
        })
        if (found._tag === "Absent") return undefined
        if (found._tag === "Pending") return { _tag: "Pending" }
        const { receipt } = found
        const planned = chains.find((chain) => chain.chainId === chainId)
        yield* Effect.logWarning("The chain shows trades of this run that are not recorded", {
          chainId,
          txHash: receipt.txHash,
          ...((planned?.transfers ?? []).length === 0 ? {} : { hint: "value may be on its way to another chain" })
        })
        return { _tag: "Landed", receipt, swaps: swapsIn(receipt, planned?.legs ?? []) }
      })

      return UnrecordedTrades.of({ find })
    })
  )
}

/** The block in which the next batch was made: a node that has not reached it cannot show that there is none. */
const madeIn = (preparation: Preparation): bigint =>
  preparation._tag === "Ready" && preparation.prepared._tag !== "Solana" ? preparation.prepared.fromBlock : 0n

/**
 * The planned swaps of which the receipt shows both sides. Of an asset that one of them sells the receipt has the
 * amount; minimums are lost with the quotes.
 */
const swapsIn = ({ deltas }: ActionReceipt, legs: PlannedChain["legs"]): ReadonlyArray<Swap> => {
  const changeOf = (assetId: AssetId) => deltas.find((delta) => delta.assetId === assetId)?.raw ?? 0n
  const made = legs.filter(({ buy, sell }) => changeOf(sell) < 0n && changeOf(buy) > 0n)
  return made.map(({ buy, sell, sellAmountRaw }) => ({
    sell,
    buy,
    sellAmountRaw: made.filter((leg) => leg.sell === sell).length === 1 ? -changeOf(sell) : sellAmountRaw,
    minBuyAmountRaw: 0n,
    path: [addressOf(sell), addressOf(buy)]
  }))
}
