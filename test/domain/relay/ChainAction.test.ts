/** The loop that carries every action out on a chain, over what a body prepares and what the chain does with it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Workflow, WorkflowEngine } from "effect/workflow"
import type { OperationId } from "#domain/values/Ids.ts"
import { AccountQueue, type QueuePosition } from "#domain/operation/AccountQueue.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Closed, type Setback, type StepOf } from "#domain/relay/ActionStep.ts"
import { ChainAction, type ChainEnd, failedReceipts, whyUnmade } from "#domain/relay/ChainAction.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { baseUsdc } from "#test/support/assets.ts"

const { chainId } = baseUsdc

const steps = {
  ready: Schema.TaggedStruct("Ready", { number: Schema.Int }),
  landed: Schema.TaggedStruct("Landed", { receipt: ActionReceipt }),
  last: Closed
}
type Step = StepOf<typeof steps>
type Ready = typeof steps.ready.Type

const hash = (number: number) => `0x${number.toString(16).padStart(64, "0")}` as const

const receiptOf = (number: number, fields: Partial<ActionReceipt> = {}): ActionReceipt => ({
  actionHash: hash(number),
  txHash: hash(number),
  blockNumber: 1n,
  blockHash: hash(number),
  success: true,
  gasUsed: 1n,
  deltas: [],
  ...fields
})
const reverted = (number: number) => receiptOf(number, { success: false })
const ready = (number: number): Step => ({ _tag: "Ready", number })
const refused: Step = { _tag: "Refused", reason: "too little" }
const waiting: Step = { _tag: "Waiting", reason: "no endpoint answers" }
const pending: Step = { _tag: "Pending", reason: "it is on its way" }

interface Script {
  readonly prepared: ReadonlyArray<Step>
  /** What became of what was submitted; null: it was cancelled before it was signed. */
  readonly included?: ReadonlyArray<ActionReceipt | null>
  /** Completions which find that the chain shows the receipt no more. */
  readonly dropped?: number
  readonly line?: ReadonlyArray<QueuePosition>
  /** Questions after which it is to be cancelled. */
  readonly cancelledAfter?: number
  readonly isRebalancing?: boolean
}

/** Carries out by a script; how it ended, and what it did on the way. */
const executed = Effect.fnUntraced(function* (script: Script) {
  const prepared = [...script.prepared]
  const included = [...(script.included ?? [])]
  const line = [...(script.line ?? [])]
  let { dropped = 0 } = script
  let questions = 0
  const did: Array<string> = []
  const note = (what: string) => Effect.sync(() => void did.push(what))
  const services = ChainAction.layer.pipe(
    Layer.provide([
      Layer.mock(OperationStore, {
        transition: ({ to }) => Effect.as(note(to), true),
        append: ({ kind }) => note(kind),
        isRebalancing: () => Effect.succeed(script.isRebalancing === true),
        isCancelRequested: () => Effect.sync(() => ++questions > (script.cancelledAfter ?? Number.POSITIVE_INFINITY))
      }),
      Layer.mock(AccountQueue, {
        acquire: () => Effect.sync(() => line.shift() ?? { state: "acquired", ahead: 0 }),
        release: () => note("release")
      })
    ])
  )
  let end: ChainEnd<Ready, Closed, ReadonlyArray<ActionReceipt>> | undefined
  const workflow = Workflow.make("Chain", {
    payload: { key: Schema.String },
    success: Schema.Void,
    idempotencyKey: ({ key }) => key
  })
  const body = workflow.toLayer(() =>
    Effect.gen(function* () {
      end = yield* (yield* ChainAction).execute({
        operationId: "op" as OperationId,
        chainId,
        steps,
        turn: "inTurn",
        rebalanced: "pf" as never,
        waits: () => ({ kind: "waits", payload: {} }),
        prepare: ({ attempt, setbacks }: { attempt: number; setbacks: ReadonlyArray<Setback<Ready>> }) =>
          Effect.as(note(`prepare ${attempt} after ${setbacks.length}`), prepared.shift()!),
        submit: ({ attempt, isAlone }, { number }) =>
          Effect.as(
            note(`submit ${number} as ${attempt}${isAlone === true ? " alone" : ""}`),
            Option.fromNullOr(included.shift()!)
          ),
        complete: ({ receipts }) => Effect.sync(() => (dropped-- > 0 ? Option.none() : Option.some(receipts)))
      })
    })
  )
  yield* workflow
    .execute({ key: "one" })
    .pipe(
      Effect.provide(body.pipe(Layer.provide(services), Layer.provideMerge(WorkflowEngine.layerMemory))),
      Effect.raceFirst(Effect.forever(Effect.andThen(TestClock.adjust("1 second"), Effect.yieldNow)))
    )
  assert.isDefined(end)
  assert.deepStrictEqual([prepared.length, included.length, line.length], [0, 0, 0], "the script was followed")
  return { end: end!, did }
})

const completedWith = (end: ChainEnd<Ready, Closed, ReadonlyArray<ActionReceipt>>) =>
  end._tag === "Completed" ? end.value : assert.fail(end._tag)

const unmade = (end: ChainEnd<Ready, Closed, ReadonlyArray<ActionReceipt>>) =>
  end._tag === "Completed" ? assert.fail("it was completed") : end

describe("an action on a chain", () => {
  it.effect("is prepared again after what was refused or reverted, and completed with all receipts", () =>
    Effect.gen(function* () {
      const { did, end } = yield* executed({
        prepared: [refused, ready(2), ready(3)],
        included: [reverted(2), receiptOf(3)]
      })
      assert.deepStrictEqual(completedWith(end), [reverted(2), receiptOf(3)])
      assert.deepStrictEqual(did, [
        "prepare 1 after 0",
        "retrying",
        "waits",
        "release",
        "prepare 2 after 0",
        "running",
        "submit 2 as 2",
        "prepare 3 after 1",
        "running",
        "submit 3 as 3"
      ])
    })
  )

  it.effect("is given up after three setbacks, with the last of them as its reason", () =>
    Effect.gen(function* () {
      const byRevert = yield* executed({
        prepared: [refused, ready(2), ready(3)],
        included: [reverted(2), receiptOf(3, { success: false, reason: "0xdead" })]
      })
      const given = unmade(byRevert.end)
      assert.deepStrictEqual(whyUnmade(given), {
        error: `the operation was reverted in ${hash(3)}: 0xdead; this operation moved nothing`,
        isCancelled: false
      })
      assert.lengthOf(failedReceipts(given.setbacks), 2)
      const byRefusal = yield* executed({ prepared: [ready(1), refused, refused], included: [reverted(1)] })
      assert.strictEqual(whyUnmade(unmade(byRefusal.end)).error, "too little; this operation moved nothing")
    })
  )

  it.effect(
    "is prepared once more, and no oftener, where what was taken back may have overtaken the last attempt",
    () =>
      Effect.gen(function* () {
        const lost = { success: false, isNotBegun: true }
        const [taken, overtaken] = [{ ...lost, isTakenBack: true }, lost]
        const receipts = [receiptOf(1, taken), receiptOf(2, taken), receiptOf(3, overtaken)]
        const found = yield* executed({
          prepared: [ready(1), ready(2), ready(3), { _tag: "Landed", receipt: receiptOf(1) }],
          included: receipts
        })
        assert.deepStrictEqual(completedWith(found.end), [...receipts, receiptOf(1)])
        const notFound = yield* executed({
          prepared: [ready(1), ready(2), ready(3), ready(4)],
          included: [...receipts, receiptOf(4, overtaken)]
        })
        assert.strictEqual(unmade(notFound.end)._tag, "GivenUp")
        const never = yield* executed({
          prepared: [ready(1), ready(2), ready(3)],
          included: [1, 2, 3].map((number) => receiptOf(number, overtaken))
        })
        assert.strictEqual(unmade(never.end)._tag, "GivenUp", "nothing of it was taken back")
      })
  )

  it.effect("goes again alone at once, and loses no try, when others reverted its bundle", () =>
    Effect.gen(function* () {
      const bundle = receiptOf(1, { success: false, isBundleReverted: true })
      const { did, end } = yield* executed({
        prepared: [ready(1), ready(2), ready(3)],
        included: [bundle, reverted(1), reverted(2), receiptOf(3)]
      })
      assert.deepStrictEqual(completedWith(end), [bundle, reverted(1), reverted(2), receiptOf(3)])
      assert.deepStrictEqual(
        did.filter((what) => what.startsWith("submit")),
        ["submit 1 as 1", "submit 1 as 2 alone", "submit 2 as 3", "submit 3 as 4"]
      )
    })
  )

  it.effect("is not submitted where it landed before, and prepared anew where the chain dropped it", () =>
    Effect.gen(function* () {
      const landed: Step = { _tag: "Landed", receipt: receiptOf(7) }
      const { end } = yield* executed({ prepared: [ready(1), landed], included: [receiptOf(1)], dropped: 1 })
      assert.deepStrictEqual(completedWith(end), [receiptOf(7)], "what was dropped is kept nowhere")
    })
  )

  it.effect("ends by a cancellation while it waits, stands in line or is about to be signed", () =>
    Effect.gen(function* () {
      const waits = yield* executed({ prepared: [waiting, waiting], cancelledAfter: 1 })
      const inLine = yield* executed({
        prepared: [],
        line: [
          { state: "joined", ahead: 1 },
          { state: "waiting", ahead: 0 }
        ],
        cancelledAfter: 1
      })
      const unsigned = yield* executed({ prepared: [ready(1)], included: [null] })
      for (const { end } of [waits, inLine, unsigned]) {
        assert.strictEqual(end._tag, "Cancelled")
        assert.isTrue(whyUnmade(unmade(end)).isCancelled)
      }
    })
  )

  it.effect("is not cancelled while what was sent before may carry it out", () =>
    Effect.gen(function* () {
      const { end } = yield* executed({
        prepared: [pending, { _tag: "Landed", receipt: receiptOf(7) }],
        cancelledAfter: 0
      })
      assert.deepStrictEqual(completedWith(end), [receiptOf(7)])
    })
  )

  it.effect("waits while a rebalance of its portfolio runs, however often the chain refuses it", () =>
    Effect.gen(function* () {
      const { end } = yield* executed({
        prepared: [refused, refused, refused, refused, ready(5)],
        included: [receiptOf(5)],
        isRebalancing: true
      })
      assert.deepStrictEqual(completedWith(end), [receiptOf(5)])
    })
  )

  it.effect("ends by the last step of its body", () =>
    Effect.gen(function* () {
      const { end } = yield* executed({ prepared: [{ _tag: "Closed", reason: "it expired" }] })
      assert.deepStrictEqual(whyUnmade(unmade(end)), { error: "it expired", isCancelled: false })
    })
  )
})
