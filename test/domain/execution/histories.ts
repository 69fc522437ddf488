/** Stored histories of operations as the lifecycle allows them, and the ports that hand them out. */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import fc from "fast-check"
import { ChainId } from "#domain/values/Caip.ts"
import { ChainCompletion, chainCompleted } from "#domain/rebalance/ChainCompletion.ts"
import { advance, emptyHistory, type ExecutionHistory } from "#domain/execution/ExecutionHistory.ts"
import { stateEvent } from "#domain/operation/Operation.ts"
import type { LandedStep } from "#domain/execution/ExecutionEvent.ts"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import {
  isTerminal,
  type Operation,
  type OperationState,
  OperationState as States,
  sourcesOf
} from "#domain/operation/Operation.ts"
import { type OperationEvent, OperationStore } from "#domain/operation/OperationStore.ts"

export const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as OperationId
export const tenantId = "tn_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as TenantId
const portfolioId = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as PortfolioId
const [base, arbitrum] = [ChainId.make(8453), ChainId.make(42161)]
const startedAt = Date.UTC(2026, 2, 2)

export const steps: ReadonlyArray<LandedStep> = [
  { chainId: base, actionHash: `0x${"0a".repeat(32)}`, txHash: `0x${"0b".repeat(32)}`, success: true },
  { chainId: arbitrum, actionHash: null, txHash: `0x${"0c".repeat(32)}`, success: true }
]

const event = (
  sequence: number,
  at: number,
  { kind, payload }: { readonly kind: string; readonly payload: Schema.Json }
): OperationEvent => ({
  operationId,
  sequence,
  at: DateTime.makeUnsafe(at),
  kind,
  payload
})

const after = (state: OperationState): ReadonlyArray<OperationState> =>
  States.literals.filter((to) => sourcesOf(to).includes(state))

/**
 * Walks of the lifecycle from `accepted`, with other events in between, ended or not. Several may have the same time.
 */
export const anyHistory: fc.Arbitrary<ReadonlyArray<OperationEvent>> = fc
  .array(
    fc.record({
      wait: fc.integer({ min: 0, max: 3 }),
      pick: fc.nat(),
      kind: fc.constantFrom(stateEvent, stateEvent, stateEvent, chainCompleted, "withdrawal_waits", "withdrawn")
    }),
    { maxLength: 40 }
  )
  .map((moves) => {
    const history = [
      event(1, startedAt, { kind: stateEvent, payload: { state: "accepted", trigger: "manual", error: null } })
    ]
    let state: OperationState = "accepted"
    let at = startedAt
    for (const { kind, pick, wait } of moves) {
      if (isTerminal(state)) break
      at += wait
      const sequence = history.length + 1
      if (kind === stateEvent) {
        const choices = after(state)
        state = choices[pick % choices.length]!
        const error = state === "failed" || state === "cancelled" ? "the chain said no" : null
        history.push(event(sequence, at, { kind, payload: { state, error } }))
      } else if (kind === chainCompleted) {
        const settled: ChainCompletion = { chainId: ChainId.make(8453), totalSteps: 50, message: "Chain 8453: done" }
        history.push(event(sequence, at, { kind, payload: Schema.encodeSync(ChainCompletion)(settled) }))
      } else history.push(event(sequence, at, { kind, payload: { reason: "the chain does not answer" } }))
    }
    return history
  })

/** Histories that are brought to their end. */
export const endedHistory = anyHistory.map((history) => {
  const last = history.at(-1)!
  const { payload } = history.findLast(({ kind }) => kind === stateEvent)!
  if (isTerminal((payload as { readonly state: OperationState }).state)) return history
  return [
    ...history,
    event(last.sequence + 1, DateTime.toEpochMillis(last.at), {
      kind: stateEvent,
      payload: {
        state: "failed",
        error: "the chain said no"
      }
    })
  ]
})

/** A store whose content a test appends to; `onPoll` runs before each read of what is new. */
export const makeStored = (history: Array<OperationEvent>, onPoll: Effect.Effect<void> = Effect.void) => {
  const historyAt = (sequence: number): ExecutionHistory =>
    history
      .slice(0, sequence)
      .reduce((read, one) => advance(read, one)[0], emptyHistory(DateTime.makeUnsafe(startedAt)))

  const operation = (): Operation => {
    const { at, error, state } = historyAt(history.length)
    return {
      operationId,
      tenantId,
      portfolioId,
      kind: "rebalance",
      trigger: "manual",
      state: state!,
      submittedAt: DateTime.makeUnsafe(startedAt),
      updatedAt: at,
      finishedAt: isTerminal(state!) ? at : null,
      error,
      outcome: null,
      reason: null
    }
  }

  const unused = Effect.die(new Error("not part of a stream"))
  return Layer.merge(
    Layer.succeed(ExecutionLog, {
      head: (access, id) =>
        Effect.sync(() =>
          access.tenantId === tenantId && id === operationId
            ? Option.some({ operation: operation(), sequence: history.length, at: history.at(-1)!.at })
            : Option.none()
        ),
      list: () => unused,
      historyAt: (_, sequence) =>
        Effect.sync(() => (sequence <= history.length ? Option.some(historyAt(sequence)) : Option.none())),
      grown: (readers) =>
        Effect.map(onPoll, () =>
          readers.filter(({ sequence }) => sequence < history.length).map((reader) => reader.operationId)
        ),
      steps: () => Effect.succeed(steps)
    }),
    Layer.succeed(OperationStore, {
      find: () => unused,
      list: () => unused,
      requestCancel: () => unused,
      cancelAwaiting: () => unused,
      isCancelRequested: () => unused,
      submitManual: () => unused,
      accepted: () => unused,
      isRebalancing: () => unused,
      transition: () => unused,
      append: () => unused,
      oldestDue: () => unused,
      events: (_, afterSequence, limit) => Effect.sync(() => history.slice(afterSequence, afterSequence + limit))
    })
  )
}
