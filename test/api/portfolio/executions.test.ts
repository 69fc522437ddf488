/** The stream of an operation over a real server: frames as text, resumption, the end, and what is refused. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { CursorInvalid, NotFound, RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, streamSettings } from "#test/api/support/Api.ts"
import { assertError, assertTraced, isoTime } from "#test/api/support/assertions.ts"
import { accepted, append, enter, streamingApi, streamPath, Streams } from "#test/api/support/StreamingApi.ts"
import type { EventSource, TextFrame } from "#test/support/eventSource.ts"

const read = (source: EventSource) => Effect.promise(source.nextEvent)
const rest = (source: EventSource) => Effect.promise(source.rest)
const kinds = (frames: ReadonlyArray<TextFrame | undefined>) => frames.map((frame) => frame?.event)

layer(streamingApi(), { excludeTestServices: true })("the stream of an operation", (it) => {
  it.effect("is answered as events that nothing on the way holds back", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const source = yield* (yield* Streams).open(operationId, { key })
      assert.strictEqual(source.status, 200)
      assert.match(source.headers.get("content-type") ?? "", /^text\/event-stream/)
      assert.strictEqual(source.headers.get("cache-control"), "private, no-store, no-transform")
      assert.strictEqual(source.headers.get("x-accel-buffering"), "no")
      assertTraced(source)
      assert.deepInclude(yield* Effect.promise(source.next), { retry: "1000" })
    })
  )

  it.effect("begins with the operation as it is, sends what happens, and ends with the result", () =>
    Effect.gen(function* () {
      const { key, operationId, portfolioId } = yield* accepted
      const source = yield* (yield* Streams).open(operationId, { key })
      const snapshot = yield* read(source)
      const { cursor, eventId, ts } = snapshot!.data
      assert.match(eventId, /^\d{13}-1$/)
      assert.match(ts, isoTime)
      assert.deepStrictEqual(snapshot, {
        id: eventId,
        event: "execution.snapshot",
        comment: undefined,
        retry: undefined,
        data: {
          streamId: `execution:${operationId}`,
          eventId,
          sequence: 1,
          ts,
          kind: "execution.snapshot",
          operationId,
          cursor,
          payload: {
            operationId,
            portfolioId,
            kind: "rebalance",
            state: "accepted",
            submittedAt: ts,
            createdAt: ts,
            updatedAt: ts,
            finishedAt: null,
            error: null,
            refs: { eventId }
          }
        }
      })
      assert.strictEqual(cursor, eventId)
      assert.strictEqual(Date.parse(ts), Number(eventId.split("-")[0]))

      yield* enter(operationId, "running")
      const running = yield* read(source)
      assert.deepInclude(running?.data, {
        sequence: 2,
        kind: "execution.state_changed",
        payload: { from: "accepted", to: "running" }
      })
      yield* append(operationId, "chain_settled", { chainId: 8453, totalSteps: 3, message: "Chain 8453: done" })
      const progress = yield* read(source)
      assert.strictEqual(progress?.event, "execution.progress")
      assert.deepStrictEqual(progress?.data.payload, {
        completedSteps: 1,
        totalSteps: 3,
        percent: 33,
        message: "Chain 8453: done"
      })
      yield* append(operationId, "withdrawal_waits", { reason: "line one\nline two" })
      const timeline = yield* read(source)
      assert.strictEqual(timeline?.event, "execution.timeline_appended")
      assert.deepStrictEqual(timeline?.data.payload, {
        message: "Withdrawal waits: line one\nline two",
        event: "withdrawal_waits",
        data: { reason: "line one\nline two" }
      })
      yield* enter(operationId, "completed")
      const ended = yield* rest(source)
      assert.deepStrictEqual(kinds(ended), ["execution.state_changed", "execution.result"])
      assert.deepStrictEqual(ended[1]?.data.payload, {
        executionKey: `rebalance:${operationId}`,
        status: "completed",
        steps: [],
        portfolioId,
        txHashes: []
      })
      assert.strictEqual(ended[1]?.data.sequence, 6)
    })
  )

  it.effect("ends with the error of an operation that failed", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      yield* enter(operationId, "failed", "the chain said no")
      const frames = yield* rest(yield* (yield* Streams).open(operationId, { key }))
      assert.deepStrictEqual(kinds(frames), ["execution.snapshot", "execution.error"])
      assert.deepStrictEqual(frames[1]?.data.payload, {
        code: "EXECUTION_FAILED",
        message: "the chain said no",
        retryable: true
      })
    })
  )

  it.effect("keeps the connection while nothing happens", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const source = yield* (yield* Streams).open(operationId, { key })
      assert.strictEqual((yield* read(source))?.event, "execution.snapshot")
      assert.strictEqual((yield* Effect.promise(source.next))?.comment, "keep-alive")
      assert.strictEqual((yield* Effect.promise(source.next))?.comment, "keep-alive")
      yield* enter(operationId, "running")
      assert.strictEqual((yield* read(source))?.event, "execution.state_changed")
    })
  )

  it.effect("resumed at each id gives what came after it, also live, and 204 after the end", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { open } = yield* Streams
      const follower = yield* open(operationId, { key, lastEventId: "0-0" })
      yield* enter(operationId, "running")
      yield* append(operationId, "withdrawn", { txHash: "0x01" })
      yield* enter(operationId, "retrying")
      yield* enter(operationId, "failed", "the chain said no")
      const [, ...all] = yield* rest(follower)
      assert.deepStrictEqual(
        all.map(({ data }) => data.sequence),
        [1, 2, 3, 4, 5, 6]
      )
      for (const [index, { id }] of all.slice(0, -1).entries()) {
        const [snapshot, ...after] = yield* rest(yield* open(operationId, { key, lastEventId: id! }))
        assert.strictEqual(snapshot?.id, id)
        assert.deepInclude(snapshot?.data.payload, { state: "failed", refs: { eventId: all[4]!.id } })
        assert.deepStrictEqual(after, all.slice(index + 1))
      }
      const ended = yield* open(operationId, { key, lastEventId: all.at(-1)!.id! })
      assert.strictEqual(ended.status, 204)
      assert.isUndefined(yield* read(ended))
    })
  )

  it.effect("refuses an id that it has not sent", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId } = yield* accepted
      const other = yield* accepted
      const source = yield* (yield* Streams).open(other.operationId, { key: other.key })
      const foreign = (yield* read(source))!.id!
      const [at] = foreign.split("-")
      for (const lastEventId of ["", "x", "1-1", `${at}-99`, `${Number(at) + 1}-1`, "0-1", "-1-1", "9".repeat(400)]) {
        const answer = yield* call("GET", streamPath(operationId), { key, headers: { "last-event-id": lastEventId } })
        assertError(answer, CursorInvalid, "Last-Event-ID: ")
      }
    })
  )

  it.effect("is found by its tenant alone", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { operationId } = yield* accepted
      const stranger = yield* newTenant()
      const foreign = yield* call("GET", streamPath(operationId), { key: stranger.key })
      const unknown = yield* call("GET", streamPath("op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"), { key: stranger.key })
      for (const answer of [foreign, unknown]) assertError(answer, NotFound)
      assert.strictEqual(
        foreign.json.error.message.replace(operationId, ""),
        unknown.json.error.message.replace("op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1", ""),
        "nothing distinguishes one from the other"
      )
      const malformed = yield* call("GET", streamPath("op_1"), { key: stranger.key })
      assertError(malformed, ValidationFailed, "operationId: ")
    })
  )

  it.effect("is refused where a tenant or the process has too many, and served when one has closed", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { open } = yield* Streams
      const first = yield* accepted
      const second = yield* accepted
      const busy = (operationId: string, key: string, why: string) =>
        Effect.gen(function* () {
          const answer = yield* call("GET", streamPath(operationId), { key })
          assertError(answer, RateLimited)
          assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
          assert.include(answer.json.error.message, why)
        })
      const sources: Array<EventSource> = []
      for (let index = 0; index < streamSettings.maxOpenPerTenant; index++)
        sources.push(yield* open(first.operationId, { key: first.key }))
      yield* busy(first.operationId, first.key, "tenant")
      const others = streamSettings.maxOpen - streamSettings.maxOpenPerTenant
      for (let index = 0; index < others; index++) sources.push(yield* open(second.operationId, { key: second.key }))
      yield* busy(second.operationId, second.key, "one process")
      // A client that goes away frees its place, although nothing is sent to it.
      sources[0]!.close()
      const again = yield* open(second.operationId, { key: second.key }).pipe(
        Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("20 millis") })
      )
      assert.strictEqual((yield* read(again))?.event, "execution.snapshot")
    })
  )
})
