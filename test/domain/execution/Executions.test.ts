/**
 * Streams of operations over histories in memory: whoever reads one from where gets each event once, in order, and the
 * end.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Logger, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { CursorInvalid, NotFound, RateLimited } from "#domain/errors/Errors.ts"
import { writeCursor } from "#domain/execution/ExecutionCursor.ts"
import type { ExecutionEvent } from "#domain/execution/ExecutionEvent.ts"
import { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { Executions } from "#domain/execution/Executions.ts"
import { stateEvent } from "#domain/operation/Operation.ts"
import { OperationTails } from "#domain/execution/OperationTails.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { StandingAccess } from "#domain/identity/access/StandingAccess.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import { type ApiKeyId, type OperationId, PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import type { OperationEvent } from "#domain/operation/OperationStore.ts"
import { anyHistory, endedHistory, makeStored, operationId, steps, tenantId } from "#test/domain/execution/histories.ts"

const readerOf = (tenant: TenantId): ExecutionReader["Service"] => ({
  tenantId: tenant,
  walletId: null,
  credential: "key_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as ApiKeyId,
  address: "192.0.2.1"
})

/** Everybody who was let in still is. */
const NoRefusals = Layer.succeed(StandingAccess, { refusals: () => Effect.succeed(new Map()) })

const layerOf = (
  history: Array<OperationEvent>,
  limits: Partial<StreamSettings["Service"]> = {},
  onPoll?: Effect.Effect<void>
) =>
  Executions.layer.pipe(Layer.provide(StreamAdmission.layer), Layer.provide([NoRefusals, AccessChanges.layer])).pipe(
    Layer.provideMerge(OperationTails.layer),
    Layer.provide(makeStored(history, onPoll)),
    Layer.provide(
      Layer.succeed(StreamSettings, {
        maxOpen: 10,
        maxOpenPerTenant: 5,
        maxOpenPerKey: 5,
        maxOpenPerAddress: 10,
        maxOpenOfSessions: 10,
        maxOpenPerSession: 5,
        maxOpenOfSessionsPerTenant: 5,
        maxOpenOfSessionsPerAddress: 5,
        pollIntervalMs: 250,
        recheckIntervalMs: 15_000,
        ...limits
      })
    ),
    Layer.provideMerge(Layer.succeed(ExecutionReader, readerOf(tenantId)))
  )

const follow = (lastEventId?: string, id = operationId) =>
  Effect.flatMap(Executions, (executions) => executions.follow(id, lastEventId))

/** All events of a stream that ends; none for one that the client has seen whole. */
const collect = (lastEventId?: string) =>
  Effect.scoped(
    Effect.flatMap(
      follow(lastEventId),
      Option.match({ onNone: () => Effect.succeed([]), onSome: ({ events }) => Stream.runCollect(events) })
    )
  )

const idOf = ({ cursor }: ExecutionEvent) => writeCursor(cursor)
const run = <A, E>(history: ReadonlyArray<OperationEvent>, effect: Effect.Effect<A, E, Executions | ExecutionReader>) =>
  Effect.runPromise(Effect.provide(effect, layerOf([...history])))

describe("the stream of an operation", () => {
  it("from the beginning sends every stored event once and in order, then the end", () =>
    fc.assert(
      fc.asyncProperty(endedHistory, async (history) => {
        const [snapshot, ...events] = await run(history, collect("0-0"))
        assert.strictEqual(snapshot!.body.kind, "execution.snapshot")
        assert.deepStrictEqual(
          events.map(({ cursor }) => cursor.sequence),
          Array.from({ length: history.length + 1 }, (_, index) => index + 1)
        )
        const kinds = { [stateEvent]: "execution.state_changed", chain_settled: "execution.progress" } as Record<
          string,
          string
        >
        assert.deepStrictEqual(
          events.slice(0, -1).map(({ body }) => body.kind),
          history.map(({ kind }) => kinds[kind] ?? "execution.timeline_appended")
        )
        assert.include(["execution.result", "execution.error"], events.at(-1)!.body.kind)
        assert.strictEqual(new Set(events.map(idOf)).size, events.length, "no id twice")
      }),
      { numRuns: 50 }
    ))

  it("resumed at any event gives exactly the rest, and after the end nothing", () =>
    fc.assert(
      fc.asyncProperty(endedHistory, async (history) => {
        await run(
          history,
          Effect.gen(function* () {
            const [, ...all] = yield* collect("0-0")
            for (const [index, event] of all.entries()) {
              const [snapshot, ...rest] = yield* collect(idOf(event))
              if (index === all.length - 1) assert.isUndefined(snapshot)
              else assert.strictEqual(idOf(snapshot!), idOf(event), "the snapshot moves nobody on")
              assert.deepStrictEqual(rest, all.slice(index + 1))
            }
          })
        )
      }),
      { numRuns: 25 }
    ))

  it("states follow each other without a gap, and steps are counted one by one, from wherever it is read", () =>
    fc.assert(
      fc.asyncProperty(endedHistory, fc.nat(), async (history, pick) => {
        const from = pick % history.length
        const start = from === 0 ? "0-0" : `${DateTime.toEpochMillis(history[from - 1]!.at)}-${from}`
        const events = await run(history, collect(start))
        const before = history.slice(0, from)
        let state =
          before
            .filter(({ kind }) => kind === stateEvent)
            .map(({ payload }) => (payload as any).state)
            .at(-1) ?? null
        let completed = before.filter(({ kind }) => kind === "chain_settled").length
        for (const { body } of events) {
          if (body.kind === "execution.state_changed") {
            assert.strictEqual(body.from, state)
            state = body.to
          }
          if (body.kind === "execution.progress") assert.strictEqual(body.completedSteps, ++completed)
        }
      }),
      { numRuns: 50 }
    ))

  it("without an id begins now", () =>
    fc.assert(
      fc.asyncProperty(endedHistory, async (history) => {
        const [snapshot, end, ...more] = await run(history, collect())
        assert.strictEqual(snapshot!.cursor.sequence, history.length)
        assert.deepInclude(snapshot!.body, { kind: "execution.snapshot", includes: snapshot!.cursor })
        assert.strictEqual(end!.cursor.sequence, history.length + 1)
        assert.deepStrictEqual(more, [])
      }),
      { numRuns: 25 }
    ))

  it("refuses what is no id of it", () =>
    fc.assert(
      fc.asyncProperty(anyHistory, fc.string({ maxLength: 30 }), async (history, text) => {
        const ids = new Set(history.map(({ at, sequence }) => `${DateTime.toEpochMillis(at)}-${sequence}`))
        const last = history.at(-1)!
        const foreign = [
          text,
          `${DateTime.toEpochMillis(last.at) + 1}-${last.sequence}`,
          `${DateTime.toEpochMillis(last.at)}-${last.sequence + 2}`,
          "1-0"
        ].filter((id) => !ids.has(id) && id !== "0-0")
        await run(
          history,
          Effect.forEach(foreign, (id) =>
            Effect.scoped(Effect.flip(follow(id))).pipe(Effect.map((error) => assert.instanceOf(error, CursorInvalid)))
          )
        )
      }),
      { numRuns: 50 }
    ))

  it("sends a result with what landed, and why an operation failed", async () => {
    const at = DateTime.makeUnsafe(0)
    const history = (...states: ReadonlyArray<readonly [string, string | null]>) =>
      states.map(([state, error], index) => ({
        operationId,
        sequence: index + 1,
        at,
        kind: stateEvent,
        payload: { state, error }
      }))
    const completed = await run(
      history(["accepted", null], ["running", null], ["retrying", null], ["running", null], ["completed", null]),
      collect()
    )
    assert.deepStrictEqual(completed.at(-1)!.body, {
      kind: "execution.result",
      result: {
        executionKey: `rebalance:${operationId}`,
        portfolioId: PortfolioId.make("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"),
        steps,
        recovered: true
      }
    })
    const failed = await run(history(["accepted", null], ["failed", "the chain said no"]), collect())
    assert.deepStrictEqual(failed.at(-1)!.body, {
      kind: "execution.error",
      error: { code: "EXECUTION_FAILED", message: "the chain said no", retryable: true }
    })
    const cancelled = await run(history(["accepted", null], ["cancelled", null]), collect())
    assert.deepInclude(cancelled.at(-1)!.body, {
      error: { code: "EXECUTION_CANCELLED", message: "The operation is cancelled", retryable: false }
    })
  })

  it("of another tenant, or of nothing, is not found", async () => {
    const [history] = fc.sample(anyHistory, 1)
    await run(
      history!,
      Effect.scoped(
        Effect.gen(function* () {
          assert.instanceOf(
            yield* Effect.flip(follow(undefined, "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K2" as OperationId)),
            NotFound
          )
          const stranger = readerOf("tn_01JQ8ZP3T5V7X9Z1B3D5F7H9K2" as TenantId)
          assert.instanceOf(yield* Effect.flip(Effect.provideService(follow(), ExecutionReader, stranger)), NotFound)
        })
      )
    )
  })
})

/** A run that has begun. */
const begun = (): Array<OperationEvent> =>
  ["accepted", "running"].map((state, index) => ({
    operationId,
    sequence: index + 1,
    at: DateTime.makeUnsafe(1_000 + index),
    kind: stateEvent,
    payload: { state, error: null }
  }))

const grow = (history: Array<OperationEvent>, state: string) => {
  history.push({ ...history.at(-1)!, sequence: history.length + 1, payload: { state, error: null } })
}

/** What a stream has sent so far, while it goes on. */
const listen = Effect.gen(function* () {
  const sent: Array<string> = []
  const { events: stream } = Option.getOrThrow(yield* follow())
  const fiber = yield* Effect.forkScoped(
    Stream.runForEach(stream, ({ body }) => Effect.sync(() => sent.push(body.kind)))
  )
  // What is there already is read by then, over the few turns that a shared read takes.
  for (let turn = 0; turn < 20; turn += 1) yield* Effect.yieldNow
  return { sent, fiber }
})

describe("a stream that is open", () => {
  it.effect("gets what this process wrote at once, without a poll", () => {
    const history = begun()
    return Effect.gen(function* () {
      const { fiber, sent } = yield* listen
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(sent, ["execution.snapshot"])
      grow(history, "completed")
      ;(yield* OperationTails).changed(operationId)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(sent.slice(1), ["execution.state_changed", "execution.result"])
    }).pipe(Effect.scoped, Effect.provide(layerOf(history)))
  })

  it.effect("gets what another process wrote by the next poll", () => {
    const history = begun()
    return Effect.gen(function* () {
      const { fiber, sent } = yield* listen
      grow(history, "retrying")
      yield* TestClock.adjust(249)
      assert.deepStrictEqual(sent, ["execution.snapshot"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(sent, ["execution.snapshot", "execution.state_changed"])
      grow(history, "completed")
      yield* TestClock.adjust(250)
      yield* Fiber.join(fiber)
      assert.strictEqual(sent.at(-1), "execution.result")
    }).pipe(Effect.scoped, Effect.provide(layerOf(history)))
  })

  it.effect("goes on after the store could not be asked", () => {
    const history = begun()
    let failures = 2
    const sometimes = Effect.suspend(() =>
      failures-- > 0 ? Effect.die(new Error("the database is down")) : Effect.void
    )
    return Effect.gen(function* () {
      const { fiber, sent } = yield* listen
      grow(history, "completed")
      yield* TestClock.adjust("250 millis")
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(sent, ["execution.snapshot"])
      yield* TestClock.adjust("750 millis")
      yield* Fiber.join(fiber)
      assert.strictEqual(sent.at(-1), "execution.result")
    }).pipe(Effect.scoped, Effect.provide(layerOf(history, {}, sometimes)), Effect.provide(Logger.layer([])))
  })

  it.effect("is read only while it has a follower", () => {
    const history = begun()
    let polls = 0
    const counted = Effect.sync(() => void polls++)
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(polls, 0)
      const { fiber } = yield* Effect.scoped(
        Effect.gen(function* () {
          const open = yield* listen
          yield* TestClock.adjust("1 second")
          assert.strictEqual(polls, 4)
          return open
        })
      )
      yield* Fiber.await(fiber)
      yield* TestClock.adjust("10 seconds")
      assert.isAtMost(polls, 5, "the one that was due")
    }).pipe(Effect.provide(layerOf(history, {}, counted)))
  })

  it.effect("counts until it is closed, for its tenant and for the process", () => {
    const history = begun()
    return Effect.gen(function* () {
      const opened = Effect.scoped(Effect.andThen(follow(), Effect.never)).pipe(
        Effect.forkScoped,
        Effect.tap(() => Effect.yieldNow)
      )
      const first = yield* opened
      yield* opened
      const refused = yield* Effect.flip(Effect.scoped(follow()))
      assert.instanceOf(refused, RateLimited)
      assert.include(refused.message, "tenant has 2 streams")
      yield* Fiber.interrupt(first)
      yield* opened
      assert.instanceOf(yield* Effect.flip(Effect.scoped(follow())), RateLimited)
    }).pipe(Effect.scoped, Effect.provide(layerOf(history, { maxOpenPerTenant: 2 })))
  })

  it.effect("is refused when the process has as many as it serves", () => {
    const history = begun()
    return Effect.gen(function* () {
      yield* follow()
      const refused = yield* Effect.flip(follow())
      assert.include(refused.message, "1 streams are open here")
    }).pipe(Effect.scoped, Effect.provide(layerOf(history, { maxOpen: 1 })))
  })
})
