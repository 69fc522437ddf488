/**
 * The loop of whatever the service does on a chain. An action is prepared until it passes simulation, submitted, and
 * completed by its receipt; what moved nothing is prepared anew, three times at most.
 *
 * A step is `prepare/<chain>/<attempt>`; those of the relay follow. The run sleeps in `line/<chain>/<attempt>` while
 * another operation of the account is under way, and in `wait/<chain>/<attempt>` after a refusal or a revert, and while
 * something outside does not answer.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import type { ChainId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import { cancelledError } from "#domain/operation/CancelRequested.ts"
import { inAccountTurn, InLine, lineDelay } from "#domain/operation/inAccountTurn.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { type NewEvent, OperationStore } from "#domain/operation/OperationStore.ts"
import { enter } from "#domain/operation/runSteps.ts"
import {
  Cancelled,
  type Closed,
  type FoundStep,
  type LastStep,
  NotYet,
  type ReadyStep,
  type Setback,
  type StepSchemas
} from "#domain/relay/ActionStep.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import type { RelayAttempt } from "#domain/relay/TransactionRelay.ts"

/** How often the chain may refuse or revert before that is final; nodes behind one endpoint may lag. */
const maxSetbacks = 3

/**
 * One setback more where an attempt was overtaken after another one had been taken back: what was taken back is public,
 * and may be what overtook it. Preparing once more reads from the chain whether it is.
 */
const setbacksUntilEnd = (setbacks: ReadonlyArray<Setback<ReadyStep>>): number => {
  const taken = setbacks.findIndex(({ receipt }) => receipt.isTakenBack === true)
  const isOvertaken = ({ receipt }: Setback<ReadyStep>) => receipt.isNotBegun === true && receipt.isTakenBack !== true
  return taken >= 0 && setbacks.slice(taken).some(isOvertaken) ? maxSetbacks + 1 : maxSetbacks
}

/** One second at first, then up to the longest. */
export const pauseAfter = (attempt: number, longest: Duration.Duration = Duration.seconds(15)) =>
  Duration.min(longest, Duration.seconds(2 ** Math.min(attempt - 1, 20)))

const NotPrepared = Schema.Union([NotYet, Cancelled, InLine])

/** What is to be prepared now. */
export interface NextAttempt<Ready extends ReadyStep> extends AttemptId {
  /** The attempts before that moved nothing. */
  readonly setbacks: ReadonlyArray<Setback<Ready>>
}

/** What carried an action out. */
export interface Landed<Ready extends ReadyStep, Found extends FoundStep> {
  readonly attempt: AttemptId["attempt"]
  readonly step: Ready | Found
  readonly receipt: ActionReceipt
  /** The attempts before that moved nothing. */
  readonly setbacks: ReadonlyArray<Setback<Ready>>
  /** Receipts of the setbacks, and of this attempt. */
  readonly receipts: ReadonlyArray<ActionReceipt>
}

/** What is to be done on a chain. */
export interface ChainWork<Ready extends ReadyStep, Found extends FoundStep, Last extends LastStep, A> {
  readonly operationId: OperationId
  readonly chainId: ChainId
  /** The number of the first attempt; 1 when it is left out. */
  readonly firstAttempt?: number
  readonly steps: StepSchemas<Ready, Found, Last>
  /**
   * Turn in which it is prepared: `inTurn` while no other operation acts for the account, `urgent` before all that wait
   * for that. Left out where the owner's own signature is submitted, which has nonces of its own.
   */
  readonly turn?: "inTurn" | "urgent"
  /** What is refused while a rebalance of this portfolio runs is waited for. */
  readonly rebalanced?: PortfolioId
  /** The event that says why it waits; without it neither event nor state says so. */
  readonly waits?: (reason: string) => Pick<NewEvent, "kind" | "payload">
  /** The longest pause between two attempts; 15 seconds when it is left out. */
  readonly longestPause?: Duration.Duration
  /** Sends nothing, and may be repeated. */
  readonly prepare: (next: NextAttempt<Ready>) => Effect.Effect<Ready | Found | Last | NotYet>
  /** The receipt, once the chain has decided; none when it was cancelled before it was signed. */
  readonly submit: (
    attempt: RelayAttempt,
    step: Ready
  ) => Effect.Effect<Option.Option<ActionReceipt>, never, InWorkflow>
  /** None where the chain does not show any more that it landed: it is prepared anew. */
  readonly complete: (landed: Landed<Ready, Found>) => Effect.Effect<Option.Option<A>, never, InWorkflow>
}

/** How the loop ended. */
export type ChainEnd<Ready extends ReadyStep, Last extends LastStep, A> =
  | { readonly _tag: "Completed"; readonly value: A }
  | Unmade<Ready, Last>

/** Nothing moved. */
export type Unmade<Ready extends ReadyStep, Last extends LastStep> = {
  /** The attempts that moved nothing. */
  readonly setbacks: ReadonlyArray<Setback<Ready>>
} & (
  | { readonly _tag: "Last"; readonly step: Last; readonly attempt: AttemptId["attempt"] }
  /** `step`: what was ready to be signed then. */
  | { readonly _tag: "Cancelled"; readonly step: Ready | undefined }
  /** Too many setbacks. `refusal`: why the chain refused it last; null where it reverted the last attempt. */
  | { readonly _tag: "GivenUp"; readonly refusal: string | null }
)

/**
 * Carries an action out on a chain.
 *
 * **When to use**
 *
 * Use in the run of every operation that sends something to a chain. `TransactionRelay` submits one attempt.
 *
 * **Details**
 *
 * The body of the run says what is prepared, how it is submitted, and what is written of its end.
 */
export class ChainAction extends Context.Service<
  ChainAction,
  {
    /** Must run inside a workflow; chain and number of the attempt name the activities. */
    readonly execute: <Ready extends ReadyStep, Found extends FoundStep, Last extends LastStep, A>(
      work: ChainWork<Ready, Found, Last, A>
    ) => Effect.Effect<ChainEnd<Ready, Last, A>, never, InWorkflow>
  }
>()("ballast/domain/relay/ChainAction") {
  static readonly layer = Layer.effect(
    ChainAction,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const queue = yield* AccountQueue
      return ChainAction.of({ execute: makeExecute({ operations, queue }) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly queue: AccountQueue["Service"]
}

/** Prepares an attempt, in the account's turn. */
const makePrepare = ({ operations, queue }: Services) => {
  const inTurn = inAccountTurn({ operations, queue })

  /** Records once, when the waiting begins, what is waited for. */
  const record = Effect.fnUntraced(function* (
    { operationId, waits }: Pick<ChainWork<never, never, never, never>, "operationId" | "waits">,
    step: ReadyStep | FoundStep | LastStep | NotYet
  ) {
    if (waits === undefined) return
    if (step._tag === "Ready") yield* enter(operations, operationId, "running")
    if (step._tag !== "Waiting" && step._tag !== "Refused" && step._tag !== "Pending") return
    if (yield* enter(operations, operationId, "retrying"))
      yield* operations.append({ operationId, at: yield* DateTime.now, ...waits(step.reason) })
  })

  return <Ready extends ReadyStep, Found extends FoundStep, Last extends LastStep, A>(
    work: ChainWork<Ready, Found, Last, A>,
    attempt: NextAttempt<Ready>
  ) => {
    const { operationId, prepare, rebalanced, steps, turn } = work
    const { chainId } = attempt
    const { landed = Schema.Never, last, ready } = steps

    /** What is ready goes on to be signed, where a cancellation is checked as well. */
    const next = Effect.gen(function* () {
      // Read before: a rebalance that ends meanwhile is a reason to try once more.
      const isRebalancing = rebalanced !== undefined && (yield* operations.isRebalancing(rebalanced))
      const made = yield* prepare(attempt)
      const step =
        made._tag === "Refused" && isRebalancing
          ? ({ _tag: "Waiting", reason: `a rebalance of the portfolio is running: ${made.reason}` } as const)
          : made
      const isCancellable = step._tag === "Waiting" || step._tag === "Refused"
      if (isCancellable && (yield* operations.isCancelRequested(operationId))) return { _tag: "Cancelled" } as const
      yield* record(work, step)
      return step
    })

    return Activity.make({
      name: `prepare/${chainId}/${attempt.attempt}`,
      success: Schema.Union([ready, landed, last, NotPrepared]),
      execute:
        turn === undefined
          ? next
          : inTurn(
              {
                request: { operationId, chainId, isUrgent: turn === "urgent" },
                isToBeSigned: ({ _tag }) => _tag === "Ready"
              },
              next
            )
    })
  }
}

const makeExecute = (services: Services) => {
  const prepare = makePrepare(services)

  const sleep = (name: "line" | "wait", { attempt, chainId }: AttemptId, duration: Duration.Duration) =>
    DurableClock.sleep({ name: `${name}/${chainId}/${attempt}`, duration })

  return Effect.fnUntraced(function* <Ready extends ReadyStep, Found extends FoundStep, Last extends LastStep, A>(
    work: ChainWork<Ready, Found, Last, A>
  ): Effect.fn.Return<ChainEnd<Ready, Last, A>, never, InWorkflow> {
    const { chainId, firstAttempt = 1, longestPause, operationId } = work
    const setbacks: Array<Setback<Ready>> = []
    let refusal: string | null = null
    // A bundle that another operation reverted is no attempt. The same operation goes again, in a transaction of its
    // own: anyone who has seen it may still submit it.
    let again: Ready | undefined

    const complete = (attempt: number, step: Ready | Found, receipt: ActionReceipt) =>
      work.complete({ attempt, step, receipt, setbacks, receipts: [...failedReceipts(setbacks), receipt] })

    for (let attempt = firstAttempt, count = 0; count < setbacksUntilEnd(setbacks); attempt++) {
      const current: AttemptId = { operationId, chainId, attempt }
      const step = again ?? (yield* prepare(work, { ...current, setbacks }))
      switch (step._tag) {
        case "InLine":
          if (step.isCancelled) return { _tag: "Cancelled", step: undefined, setbacks }
          yield* sleep("line", current, lineDelay(step))
          continue
        case "Cancelled":
          return { _tag: "Cancelled", step: undefined, setbacks }
        case "Closed":
        case "Ended":
        case "Nothing":
        case "Unsigned":
          return { _tag: "Last", step, attempt, setbacks }
        case "Landed": {
          const completed = yield* complete(attempt, step, step.receipt)
          if (Option.isSome(completed)) return { _tag: "Completed", value: completed.value }
          continue
        }
        case "Ready": {
          const included = yield* work.submit({ ...current, isAlone: again !== undefined }, step)
          if (Option.isNone(included)) return { _tag: "Cancelled", step, setbacks }
          const receipt = included.value
          again = receipt.isBundleReverted === true ? step : undefined
          if (receipt.success) {
            const completed = yield* complete(attempt, step, receipt)
            if (Option.isSome(completed)) return { _tag: "Completed", value: completed.value }
            continue
          }
          setbacks.push({ attempt, step, receipt })
          if (again !== undefined) continue
          refusal = null
          count += 1
          break
        }
        case "Refused":
          refusal = step.reason
          count += 1
      }
      if (count < setbacksUntilEnd(setbacks)) yield* sleep("wait", current, pauseAfter(attempt, longestPause))
    }
    return { _tag: "GivenUp", refusal, setbacks }
  })
}

/** The receipts of attempts that moved nothing, in order. */
export const failedReceipts = (setbacks: ReadonlyArray<Setback<ReadyStep>>): ReadonlyArray<ActionReceipt> =>
  setbacks.map(({ receipt }) => receipt)

/** What an attempt came to that moved nothing. */
export const revertOf = ({ isTakenBack, reason, txHash }: ActionReceipt): string =>
  isTakenBack === true
    ? `the operation was taken back in ${txHash}, since gas cost more than it may`
    : `the operation was reverted in ${txHash}${reason === undefined ? "" : `: ${reason}`}`

/** Why an action moved nothing, for the one who asked for it. */
export const whyUnmade = (
  end: Unmade<ReadyStep, Closed>
): { readonly error: string; readonly isCancelled: boolean } => {
  if (end._tag === "Cancelled") return { error: cancelledError, isCancelled: true }
  if (end._tag === "Last") return { error: end.step.reason, isCancelled: false }
  const last = end.refusal ?? revertOf(end.setbacks.at(-1)!.receipt)
  return { error: `${last}; this operation moved nothing`, isCancelled: false }
}
