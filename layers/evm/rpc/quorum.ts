/**
 * What every endpoint of a chain shows, and what follows from all of them about a transaction. None of them is trusted
 * alone when there are several: a conclusion counts when every endpoint that has seen its block comes to the same one.
 *
 * An endpoint that does not answer in time, or whose chain is not that long yet, does not count, so one that is down or
 * lags holds nothing up. When two contradict each other nothing is concluded and the work waits: paying twice by the
 * answer of a faulty node is worse than waiting for the operator to remove it.
 */
import { Array as Arr, Duration, Effect, Metric, Option, Result } from "effect"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { sleepRealTime, withinRealTime } from "#layers/clock/withinRealTime.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

/** What is compared of what endpoints found. */
type Shown = Pick<ActionReceipt, "success" | "blockHash" | "blockNumber" | "txHash" | "deltas">

/** What one endpoint shows. */
export interface Observation<Found extends Shown = ActionReceipt> {
  /** Its latest block, read before anything else. */
  readonly head: bigint
  /** The latest block that a confirmed answer may be based on. */
  readonly confirmed: bigint
  readonly receipt: Option.Option<Found>
}

/** An endpoint that takes longer has no say. */
const answerTimeout = Duration.seconds(4)

/**
 * What is lost is read twice: one endpoint is often many nodes, and a block may be taken back just after it was read.
 */
const beforeSecondRead = Duration.seconds(2)

/**
 * Calls every endpoint of the chain in parallel, each by itself, and returns the result of each, in their order. `ask`
 * gets the endpoint's position in that order. One that takes longer than four seconds of real time has failed.
 */
export const readEach = Effect.fnUntraced(function* <A, E, R>(
  chainId: ChainId,
  ask: (position: number) => Effect.Effect<A, E, R | EvmClients>
) {
  const { each } = yield* EvmClients
  return yield* Effect.forEach(
    each(chainId),
    (endpoint, position) =>
      ask(position).pipe(
        Effect.provideService(EvmClients, endpoint),
        withinRealTime(answerTimeout, () => new ChainUnavailable({ chainId, reason: "no answer in time" })),
        Effect.result
      ),
    { concurrency: "unbounded" }
  )
})

/** What those say that answered, at least one; fails as the first of them did when none answered. */
export const concluded = <A, E>(
  chainId: ChainId,
  results: ReadonlyArray<Result.Result<A, E>>
): Effect.Effect<Arr.NonEmptyReadonlyArray<A>, E | ChainUnavailable> => {
  const answers = results.filter(Result.isSuccess).map(({ success }) => success)
  if (Arr.isReadonlyArrayNonEmpty(answers)) return Effect.succeed(answers)
  const failure = results.find(Result.isFailure)
  return Effect.fail(failure?.failure ?? new ChainUnavailable({ chainId, reason: "no RPC endpoint is configured" }))
}

const sayTheSame = (a: Shown, b: Shown): boolean =>
  a.success === b.success &&
  a.blockHash === b.blockHash &&
  (a.blockHash === null || a.txHash === b.txHash) &&
  a.deltas.length === b.deltas.length &&
  a.deltas.every(({ assetId, raw }, index) => b.deltas[index]?.assetId === assetId && b.deltas[index]?.raw === raw)

/** The block of a conclusion: that of the receipt, or the latest one when there is none to be found. */
const evidence = ({ receipt, confirmed }: Observation<Shown>): bigint =>
  Option.match(receipt, {
    onNone: () => 0n,
    onSome: ({ blockHash, blockNumber }) => (blockHash === null ? confirmed : blockNumber)
  })

/** The conclusion, none while there is none; "contradiction" when the endpoints cannot all be right. */
export const conclude = <Found extends Shown>(
  observations: ReadonlyArray<Observation<Found>>
): Option.Option<Found> | "contradiction" => {
  const first = observations.find(({ receipt }) => Option.isSome(receipt))
  if (first === undefined || Option.isNone(first.receipt)) return Option.none()
  const concluded = first.receipt.value
  const block = evidence(first)
  const contradicts = ({ receipt, confirmed }: Observation<Found>) =>
    Option.match(receipt, {
      onNone: () => confirmed >= block,
      onSome: (other) => !sayTheSame(concluded, other)
    })
  return observations.some(contradicts) ? "contradiction" : first.receipt
}

/** Counts and logs that endpoints contradict each other; why nothing is concluded. */
export const contradiction = Effect.fnUntraced(function* (chainId: ChainId) {
  yield* Metric.update(Metric.withAttributes(Metrics.chainDisagreements, { chain: String(chainId) }), 1)
  yield* Effect.logError(
    `The RPC endpoints of chain ${chainId} contradict each other about a transaction; its step waits until they agree. Compare them and remove the faulty one from RPC_URL_${chainId}`
  )
  return new ChainUnavailable({
    chainId,
    reason: "its endpoints contradict each other about a transaction; nothing is concluded until they agree"
  })
})

/** Calls every endpoint of the chain; fails when none answers, and when they contradict each other. */
const ask = Effect.fnUntraced(function* <Found extends Shown, R>(
  chainId: ChainId,
  observe: Effect.Effect<Observation<Found>, ChainUnavailable, R | EvmClients>
) {
  const conclusion = conclude(yield* concluded(chainId, yield* readEach(chainId, () => observe)))
  return conclusion === "contradiction" ? yield* yield* contradiction(chainId) : conclusion
})

/** What the endpoints of the chain conclude; none while there is no conclusion. */
export const agreed = Effect.fnUntraced(function* <Found extends Shown, R>(
  chainId: ChainId,
  observe: Effect.Effect<Observation<Found>, ChainUnavailable, R | EvmClients>
) {
  const conclusion = yield* ask(chainId, observe)
  if (Option.isNone(conclusion) || conclusion.value.blockHash !== null) return conclusion
  yield* sleepRealTime(beforeSecondRead)
  return yield* ask(chainId, observe)
})
