/** Whatever happens to a monitor in whatever order, it stays in a state that a row may have. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import type { OperationId, PortfolioId, TenantId, WorkflowId } from "#domain/values/Ids.ts"
import type { MonitorEvent, MonitorState, Workflow } from "#domain/monitor/Monitor.ts"
import * as Transitions from "#domain/monitor/transitions.ts"
import type { OperationState } from "#domain/operation/Operation.ts"
import "#test/support/suite/properties.ts"

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00.000Z")

const workflow = (kind: "scheduled" | "triggered", everyMs: number | null, isRepeated: boolean): Workflow => ({
  workflowId: "wf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as WorkflowId,
  tenantId: "tn_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as TenantId,
  portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as PortfolioId,
  ownerAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
  title: "T",
  kind,
  trigger:
    kind === "scheduled"
      ? null
      : { kind: "approval_pending_count", comparison: "above", threshold: 1n, hysteresis: 0n },
  everyMs,
  isRepeated,
  status: "active"
})

const workflows = fc.constantFrom(
  workflow("scheduled", 3_600_000, true),
  workflow("scheduled", null, true),
  workflow("triggered", null, true),
  workflow("triggered", null, false)
)

const matched: MonitorEvent = {
  _tag: "trigger_matched",
  event: { kind: "approval_pending_count", summary: "one" }
}

const operation = (name: string | number) => `op_${name}` as OperationId

const completed = (operationId: OperationId, state: OperationState): MonitorEvent => ({
  _tag: "execution_completed",
  operationId,
  state,
  outcome: null
})

const action = fc.constantFrom(
  "due",
  "matched",
  "ended",
  "ended of another",
  "recovered",
  "start",
  "start beside another",
  "check",
  "check without effect",
  "rest",
  "retry",
  "go on",
  "check again"
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const apply = (
  state: MonitorState,
  own: Workflow,
  { at, n, what }: { readonly what: Action; readonly at: DateTime.Utc; readonly n: number }
): MonitorState | null => {
  const operationId = operation(n)
  const isReady = state.status === "ready"
  const started = () => Transitions.start(state, at)
  switch (what) {
    case "due":
      return Transitions.wake(state, { _tag: "due" }, at)
    case "matched":
      return Transitions.wake(state, matched, at)
    case "ended":
      return Transitions.wake(state, completed(state.execution?.operationId ?? operation("none"), "completed"), at)
    case "ended of another":
      return Transitions.wake(state, completed(operation("of_another"), "completed"), at)
    case "recovered":
      return Transitions.wake(state, { _tag: "recovered" }, at)
    case "start":
    case "start beside another": {
      const next = started()
      return (
        next &&
        Transitions.awaitExecution(
          next,
          { execution: { operationId, requestId: `r${n}` }, isOwn: what === "start" },
          at
        )
      )
    }
    case "check":
    case "check without effect":
      return state.wait === "trigger"
        ? Transitions.awaitTrigger(state, at, { isArmed: n % 2 === 0, isKnown: what === "check" })
        : null
    case "rest":
      return isReady ? Transitions.rest(state, own, at) : null
    case "retry":
      return isReady ? Transitions.retry(state, at) : null
    case "go on":
      return state.wait === "execution" ? Transitions.goOnWaiting(state, at) : null
    case "check again":
      return Transitions.checkAgain(state, at)
  }
}

const assertSound = (state: MonitorState) => {
  assert.strictEqual(state.status === "waiting", state.wait !== null)
  assert.strictEqual(["waiting", "ready"].includes(state.status), state.nextCheckAt !== null)
  assert.strictEqual(state.wait === "execution", state.execution !== null)
  assert.strictEqual(state.status === "ready", state.event !== null)
  assert.strictEqual(state.status === "completed", state.completedAt !== null)
  assert.strictEqual(state.status === "failed", state.failedAt !== null)
  assert.isAtMost(state.linkedOperationIds.length, Transitions.maxLinked)
  assert.isAtMost(state.failures, Transitions.maxFailures)
  if (state.retryAfter !== null) assert.deepStrictEqual(state.retryAfter, state.nextCheckAt)
  if (state.waitingUntil !== null) assert.deepStrictEqual(state.waitingUntil, state.nextCheckAt)
  if (state.nextCheckAt !== null && state.lastTickAt !== null)
    assert.isAbove(state.nextCheckAt.epochMilliseconds, state.lastTickAt.epochMilliseconds)
}

describe("transitions of monitors", () => {
  it("every order of events and ticks leaves a sound state, and no two ticks have the same time", () =>
    fc.assert(
      fc.property(
        workflows,
        fc.array(fc.tuple(action, fc.constantFrom(0, 1, 60_000, 900_000, 86_400_000)), { maxLength: 80 }),
        (own, actions) => {
          let at = noon
          let state = Transitions.begin(own, at, at)
          assertSound(state)
          const ticks = new Set<number>()
          for (const [n, [what, later]] of actions.entries()) {
            at = DateTime.add(at, { milliseconds: later })
            const next = apply(state, own, { what, at, n })
            if (next === null) continue
            assertSound(next)
            // A tick is done when its time becomes the last one.
            const done = next.lastTickAt?.epochMilliseconds
            if (done !== undefined && done !== state.lastTickAt?.epochMilliseconds) {
              assert.isFalse(ticks.has(done), `${what} at ${done}`)
              ticks.add(done)
            }
            state = next
          }
        }
      ),
      { numRuns: 2_000 }
    ))

  it("a workflow that failed as often as it may has failed, and one recovered begins to count anew", () => {
    const own = workflow("triggered", null, true)
    let state = Transitions.wake(Transitions.begin(own, noon, noon), matched, noon)!
    let pause = 0
    for (let failure = 1; failure < Transitions.maxFailures; failure += 1) {
      const retried = Transitions.retry(state, noon)
      assert.strictEqual(retried.wait, "time")
      assert.isTrue(retried.isArmed)
      const next = retried.retryAfter!.epochMilliseconds - noon.epochMilliseconds
      assert.isAtLeast(next, pause)
      assert.isAtMost(next, 2 * 3_600_000)
      pause = next
      state = Transitions.wake(retried, { _tag: "due" }, retried.retryAfter!)!
    }
    const failed = Transitions.retry(state, noon)
    assert.strictEqual(failed.status, "failed")
    assert.isNull(failed.nextCheckAt)
    const recovered = Transitions.wake(failed, { _tag: "recovered" }, noon)!
    assert.strictEqual(recovered.failures, 0)
    assert.isNull(recovered.failedAt)
  })
})
