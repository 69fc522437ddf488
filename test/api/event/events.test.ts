/** The log of a tenant's events over a real server: pages, the stream, resumption, and what is refused. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CursorInvalid, RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, streamSettings } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { noteAnswer } from "#test/api/support/noteAnswer.ts"
import { accepted, enter, streamingApi, Streams } from "#test/api/support/StreamingApi.ts"
import { openEvents } from "#test/support/eventSource.ts"

/** Open until the scope closes. */
const open = Effect.fnUntraced(function* (key: string, lastEventId?: string) {
  const url = new URL("/v2/events/stream", (yield* Streams).url(""))
  return yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const resumed = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
      const source = await openEvents(url.href, { "x-api-key": key, ...resumed })
      if (source.status < 400) noteAnswer("GET", url.pathname, { status: source.status, json: undefined })
      return source
    }),
    (source) => Effect.sync(source.close)
  )
})

layer(streamingApi(), { excludeTestServices: true })("events of a tenant", (it) => {
  it.effect("pages and the stream give the same events, and each can be resumed after any of them", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId } = yield* accepted
      yield* enter(operationId, "running")
      const all = yield* call("GET", "/v2/events", { key })
      assertData(all, 200, ["events", "lastEventId", "hasMore"])
      const { events, hasMore, lastEventId } = all.json.data
      assert.isFalse(hasMore)
      assert.strictEqual(events.at(-1).eventId, lastEventId)
      assert.deepInclude(events.at(-1), { type: "operation.state_changed", operationId })

      const paged: Array<unknown> = []
      for (let after = "0", more = true; more;) {
        const { data } = (yield* call("GET", `/v2/events?after=${after}&limit=2`, { key })).json
        paged.push(...data.events)
        after = data.lastEventId
        more = data.hasMore
      }
      assert.deepStrictEqual(paged, events)

      for (const [index, { eventId }] of [{ eventId: "0" }, ...events.slice(0, -1)].entries()) {
        const source = yield* open(key, eventId)
        for (const expected of events.slice(index)) {
          const frame = yield* Effect.promise(source.nextEvent)
          assert.strictEqual(frame?.id, expected.eventId)
          assert.strictEqual(frame?.event, expected.type)
          assert.deepStrictEqual(frame?.data, expected)
        }
        source.close()
      }
    }).pipe(Effect.scoped)
  )

  it.effect("without an id the stream sends what comes from now on, of this tenant alone", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId } = yield* accepted
      const other = yield* accepted
      const source = yield* open(key)
      assert.deepInclude(yield* Effect.promise(source.next), { retry: "1000" })
      const known = (yield* call("GET", "/v2/events?limit=200", { key })).json.data.lastEventId
      const position = { id: known, event: "stream.opened", data: { after: known } }
      assert.deepInclude(
        yield* Effect.promise(source.next),
        position,
        "where a client resumes that was cut before an event"
      )
      yield* enter(other.operationId, "running")
      yield* enter(operationId, "running")
      yield* enter(operationId, "completed")
      const first = yield* Effect.promise(source.nextEvent)
      assert.deepInclude(first?.data, { operationId, type: "operation.state_changed" })
      assert.strictEqual(first?.data.data.state, "running")
      assert.strictEqual((yield* Effect.promise(source.nextEvent))?.data.data.state, "completed")
      const stranger = yield* newTenant()
      assert.deepStrictEqual((yield* call("GET", "/v2/events", { key: stranger.key })).json.data, {
        events: [],
        lastEventId: "0",
        hasMore: false
      })
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a position that the log does not have, one that is gone, and what is no position", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { key, tenantId } = yield* accepted
      const { lastEventId } = (yield* call("GET", "/v2/events", { key })).json.data
      const headers = { "last-event-id": "x" }
      assertError(yield* call("GET", "/v2/events/stream", { key, headers }), CursorInvalid, "Last-Event-ID: ")
      const long = { "last-event-id": "1".repeat(33) }
      assertError(yield* call("GET", "/v2/events/stream", { key, headers: long }), ValidationFailed)
      assertError(yield* call("GET", `/v2/events?after=${Number(lastEventId) + 1}`, { key }), CursorInvalid, "after: ")
      for (const query of ["after=-1", "after=01", "after=x", "limit=0", "limit=201"])
        assertError(yield* call("GET", `/v2/events?${query}`, { key }), ValidationFailed)
      yield* sql`DELETE FROM tenant_events WHERE tenant_id = ${tenantId} AND sequence < ${lastEventId}::bigint`
      assertError(yield* call("GET", "/v2/events?after=1", { key }), CursorInvalid, "after: too old")
      assert.lengthOf((yield* call("GET", "/v2/events?after=0", { key })).json.data.events, 1)
    })
  )

  it.effect("is refused where the tenant has too many streams, and served when one has closed", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* accepted
      const sources = yield* Effect.forEach(Array.from({ length: streamSettings.maxOpenPerTenant }), () => open(key))
      assertError(yield* call("GET", "/v2/events/stream", { key }), RateLimited)
      sources[0]!.close()
      const again = yield* open(key).pipe(Effect.repeat({ until: ({ status }) => status === 200 }))
      assert.strictEqual(again.status, 200)
    }).pipe(Effect.scoped)
  )
})
