/**
 * The stream of an operation as chunks of the AG-UI protocol, read by the protocol's own client, which verifies the
 * order of events, and held against its own schemas.
 */
import { HttpAgent } from "@ag-ui/client"
import { EventSchemas } from "@ag-ui/core/schemas"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { CursorInvalid, NotFound, RateLimited, SessionInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, streamSettings } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { accepted, append, enter, streamingApi, streamPath, Streams } from "#test/api/support/StreamingApi.ts"
import type { EventSource } from "#test/support/eventSource.ts"

const agUiPath = (operationId: string) => `/v1/ai/executions/${operationId}/ag-ui-stream`

const rest = (source: EventSource) => Effect.promise(source.rest)

/** Every chunk of a stream until it ends; frames of the protocol have no event name. */
const chunksOf = (source: EventSource) =>
  Effect.promise(async () => {
    const frames: Array<{ readonly id: string | undefined; readonly data: any }> = []
    for (let frame = await source.next(); frame !== undefined; frame = await source.next())
      if (frame.data !== undefined) frames.push({ id: frame.id, data: frame.data })
    return frames
  })

const types = (frames: ReadonlyArray<{ readonly data: any }>) =>
  frames.map(({ data }) => (data.stepName === undefined ? data.type : `${data.type} ${data.stepName}`))

/** Follows a run by the protocol's client; answers its state, its result and the events it received. */
const agentRun = Effect.fnUntraced(function* (operationId: string, headers: Record<string, string>) {
  const baseUrl = new URL((yield* Streams).url(operationId)).origin
  return yield* Effect.promise(async () => {
    const agent = new HttpAgent({ url: `${baseUrl}${agUiPath(operationId)}`, headers })
    const received: Array<any> = []
    const { result } = await agent.runAgent(
      { runId: operationId },
      { onEvent: ({ event }) => void received.push(event) }
    )
    return { received, result, state: agent.state as any }
  })
})

layer(streamingApi(), { excludeTestServices: true })("the AG-UI stream of an operation", (it) => {
  it.effect("is a run that the protocol's client follows to its result, with the state that the events make", () =>
    Effect.gen(function* () {
      const { key, operationId, portfolioId } = yield* accepted
      const run = yield* Effect.forkScoped(agentRun(operationId, { "x-api-key": key, "last-event-id": "0-0" }))
      yield* enter(operationId, "running")
      yield* append(operationId, "chain_settled", { chainId: 8453, totalSteps: 2, message: "Chain 8453: done" })
      yield* append(operationId, "withdrawal_waits", { reason: "the chain does not answer" })
      yield* enter(operationId, "retrying")
      yield* enter(operationId, "completed")
      const { received, result, state } = yield* Fiber.join(run)
      const { sse } = yield* Effect.map(
        Effect.flatMap(Streams, ({ open }) => open(operationId, { key, lastEventId: "0-0" })),
        (sse) => ({ sse })
      )
      const [, ...events] = yield* rest(sse)
      assert.deepStrictEqual(
        received.filter(({ type }) => type === "STATE_DELTA").map(({ rawEvent }) => rawEvent),
        events.map(({ data }) => data),
        "each event of the stream is one delta, and contains it"
      )
      assert.deepStrictEqual(types(received.map((data) => ({ data }))), [
        "RUN_STARTED",
        "STATE_SNAPSHOT",
        "STATE_DELTA",
        "STEP_STARTED accepted",
        "STEP_FINISHED accepted",
        "STATE_DELTA",
        "STEP_STARTED running",
        "STATE_DELTA",
        "CUSTOM",
        "STATE_DELTA",
        "STEP_FINISHED running",
        "STATE_DELTA",
        "STEP_STARTED retrying",
        "STEP_FINISHED retrying",
        "STATE_DELTA",
        "STATE_DELTA",
        "RUN_FINISHED"
      ])
      const ended = events.at(-1)!.data
      assert.deepStrictEqual(result, ended.payload)
      assert.deepInclude(received.at(-1), { threadId: portfolioId, runId: operationId })
      assert.deepStrictEqual(
        { ...state, submittedAt: undefined },
        {
          operationId,
          portfolioId,
          kind: "rebalance",
          submittedAt: undefined,
          state: "completed",
          updatedAt: ended.ts,
          sequence: 7,
          completedSteps: 1,
          totalSteps: 2,
          result: ended.payload,
          error: null
        }
      )
      for (const one of received) assert.doesNotThrow(() => EventSchemas.parse(one), JSON.stringify(one))
    })
  )

  it.effect("ends with the error of an operation that failed, and the client says so", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      yield* enter(operationId, "failed", "the chain said no")
      const chunks = yield* chunksOf(yield* (yield* Streams).openAt(agUiPath(operationId), { token: key }))
      assert.deepStrictEqual(types(chunks), ["RUN_STARTED", "STATE_SNAPSHOT", "STATE_DELTA", "RUN_ERROR"])
      assert.deepInclude(chunks.at(-1)!.data, { code: "EXECUTION_FAILED", message: "the chain said no" })
      const { received } = yield* agentRun(operationId, { authorization: `Bearer ${key}` })
      assert.strictEqual(received.at(-1).type, "RUN_ERROR")
    })
  )

  it.effect("resumed at each id gives a run of its own whose snapshot is what the client had seen", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { openAt } = yield* Streams
      yield* enter(operationId, "running")
      yield* append(operationId, "chain_settled", { chainId: 8453, totalSteps: 2, message: "Chain 8453: done" })
      yield* append(operationId, "withdrawn", { txHash: "0x01" })
      yield* enter(operationId, "failed", "the chain said no")
      const path = agUiPath(operationId)
      const all = yield* chunksOf(yield* openAt(path, { key, lastEventId: "0-0" }))
      const deltas = (chunks: typeof all) => chunks.filter(({ data }) => data.type === "STATE_DELTA")
      const ids = all.flatMap(({ id }) => id ?? []).slice(1, -1)
      assert.lengthOf(ids, 5)
      /** The snapshot with the deltas up to an event applied, which are replacements alone. */
      const stateAfter = (events: number) => {
        const state = { ...all[1]!.data.snapshot }
        for (const { data } of deltas(all).slice(0, events))
          for (const { op, path, value } of data.delta) {
            assert.strictEqual(op, "replace")
            assert.property(state, path.slice(1))
            state[path.slice(1)] = value
          }
        return state
      }
      for (const [index, lastEventId] of ids.entries()) {
        const resumed = yield* chunksOf(yield* openAt(path, { key, lastEventId }))
        assert.deepStrictEqual(types(resumed).slice(0, 2), ["RUN_STARTED", "STATE_SNAPSHOT"])
        const expected = stateAfter(index + 1)
        // What ended the operation is in its state already; the stream sends it once more, as its end.
        assert.deepStrictEqual(
          { ...resumed[1]!.data.snapshot, error: null },
          { ...expected, error: null },
          `after ${lastEventId}`
        )
        assert.deepStrictEqual(deltas(resumed), deltas(all).slice(index + 1))
        const open = types(resumed).filter((type) => type.startsWith("STEP_STARTED"))
        const closed = types(resumed).filter((type) => type.startsWith("STEP_FINISHED"))
        assert.lengthOf(closed, open.length)
      }
      const seen = yield* openAt(path, { key, lastEventId: all.at(-1)!.id! })
      assert.strictEqual(seen.status, 204)
    })
  )

  it.effect("refuses what the stream of events refuses", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { openAt } = yield* Streams
      const { key, operationId } = yield* accepted
      const path = agUiPath(operationId)
      assertError(yield* call("GET", path, { key, headers: { "last-event-id": "1-1" } }), CursorInvalid)
      assertError(yield* call("GET", path, { key: (yield* newTenant()).key }), NotFound)
      assertError(yield* call("GET", agUiPath("op_1"), { key }), ValidationFailed, "operationId: ")
      for (const url of [path, streamPath(operationId)])
        assertError(yield* call("GET", url, { headers: { authorization: "Bearer bs_guess" } }), SessionInvalid)
      for (let index = 0; index < streamSettings.maxOpenPerTenant; index++) yield* openAt(path, { key })
      assertError(yield* call("GET", path, { key }), RateLimited)
    })
  )
})
