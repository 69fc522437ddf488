/**
 * Streams of every kind whose key, session or tenant ends elsewhere, as in another process, while they are open: each
 * ends at a heartbeat, says why in the form of its protocol, and sends nothing more.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Fiber, Latch, Option, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { WebSocket } from "ws"
import * as Errors from "#domain/errors/Errors.ts"
import { SessionStore } from "#domain/identity/SessionStore.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { makeProcedures } from "#rpc/client.ts"
import { newOwner } from "#test/api/support/actors.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { accepted, enter, type StreamRequest, streamPath, Streams } from "#test/api/support/StreamingApi.ts"

import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"
import type { TextFrame } from "#test/support/eventSource.ts"

const origin = Effect.map(Streams, ({ url }) => new URL(url("x")).origin)

/** All keys of the tenant, not by this process' word. */
const revoke = Effect.fnUntraced(function* ({ tenantId }: { readonly tenantId: string }) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE api_keys SET revoked_at = now() WHERE tenant_id = ${tenantId}`
})

/** The last frame of a stream that is open when `end` happens. */
const lastFrameAfter = Effect.fnUntraced(function* (
  path: string,
  request: StreamRequest,
  end: Effect.Effect<unknown, unknown, SqlClient.SqlClient | TenantStore | SessionStore | UserStore>
) {
  const source = yield* (yield* Streams).openAt(path, request)
  assert.strictEqual(source.status, 200)
  yield* Effect.promise(source.next)
  yield* end
  const last = yield* Effect.promise(async () => {
    let read: TextFrame | undefined
    for (let frame = await source.next(); frame !== undefined; frame = await source.next())
      if (frame.data !== undefined) read = frame
    return read!
  })
  assert.isUndefined(last.id, "the place of the client stays")
  return last
})

const rpcStream = (operationId: string) =>
  `/v1/rpc/v2.executions.stream?input=${encodeURIComponent(JSON.stringify({ json: { operationId } }))}`

const code = Errors.KeyInvalid.contract.code

layer(executionsApi(), { excludeTestServices: true })("a stream whose key is revoked elsewhere", (it) => {
  it.effect(
    "of a tenant's events ends with an event stream.ended, and a client that comes back at once is refused",
    () =>
      Effect.gen(function* () {
        const one = yield* accepted
        const last = yield* lastFrameAfter("/v2/events/stream", { key: one.key }, revoke(one))
        assert.deepInclude(last, { event: "stream.ended" })
        assert.strictEqual(last.data.code, code)
        // Not by what this process remembers of the key.
        const again = yield* (yield* Streams).openAt("/v2/events/stream", { key: one.key })
        assert.strictEqual(again.status, 401)
      }).pipe(Effect.scoped)
  )

  it.effect("of an operation ends with an event stream.ended", () =>
    Effect.gen(function* () {
      const one = yield* accepted
      const last = yield* lastFrameAfter(streamPath(one.operationId), { key: one.key }, revoke(one))
      assert.deepInclude(last, { event: "stream.ended" })
      assert.deepStrictEqual(Object.keys(last.data), ["code", "message"])
      assert.strictEqual(last.data.code, code)
    }).pipe(Effect.scoped)
  )

  it.effect("of AG-UI ends with RUN_ERROR", () =>
    Effect.gen(function* () {
      const one = yield* accepted
      const path = `/v1/ai/executions/${one.operationId}/ag-ui-stream`
      const { data } = yield* lastFrameAfter(path, { key: one.key }, revoke(one))
      assert.deepInclude(data, { type: "RUN_ERROR", code })
    }).pipe(Effect.scoped)
  )

  it.effect("of a procedure ends with an event error, whose data is the body of the refusal", () =>
    Effect.gen(function* () {
      const one = yield* accepted
      const last = yield* lastFrameAfter(rpcStream(one.operationId), { key: one.key }, revoke(one))
      assert.strictEqual(last.event, "error")
      assert.strictEqual(last.data.error.json.code, code)
    }).pipe(Effect.scoped)
  )

  it.effect("over Effect's RPC fails with the error of the API", () =>
    Effect.gen(function* () {
      const one = yield* accepted
      const client = yield* makeProcedures({ baseUrl: yield* origin, token: Redacted.make(one.key) })
      const begun = yield* Latch.make()
      const following = yield* client("v2.executions.stream", { operationId: one.operationId }).pipe(
        Stream.runForEach(() => begun.open),
        Effect.flip,
        Effect.forkScoped
      )
      yield* begun.await
      yield* revoke(one)
      assert.strictEqual((yield* Fiber.join(following))._tag, "KeyInvalid")
    }).pipe(Effect.scoped)
  )

  it.effect("closes a WebSocket with 1008 and says why, and with it the streams that it contains", () =>
    Effect.gen(function* () {
      const tenant = yield* accepted
      const url = `${(yield* origin).replace("http", "ws")}/v1/rpc`
      const socket = yield* Effect.acquireRelease(
        Effect.callback<WebSocket>((resume) => {
          const opened = new WebSocket(url, { headers: { "x-api-key": tenant.key } })
          opened.on("open", () => resume(Effect.succeed(opened)))
        }),
        (opened) => Effect.sync(() => opened.terminate())
      )
      const pings = setInterval(() => socket.send(JSON.stringify({ _tag: "Ping" })), 100)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(pings)))
      const closed = Effect.callback<readonly [number, string]>((resume) => {
        socket.on("close", (closeCode, reason) => resume(Effect.succeed([closeCode, String(reason)])))
      })
      const begun = Effect.callback<void>((resume) => {
        socket.on("message", (data) => {
          if (String(data).includes("execution.snapshot")) resume(Effect.void)
        })
      })
      const beginning = yield* Effect.forkScoped(begun)
      const call = {
        _tag: "Request",
        id: "1",
        tag: "v2.executions.stream",
        payload: { operationId: tenant.operationId }
      }
      socket.send(JSON.stringify({ ...call, headers: [] }))
      yield* Fiber.join(beginning)
      const closing = yield* Effect.forkScoped(closed)
      yield* revoke(tenant)
      const [closeCode, reason] = yield* Fiber.join(closing)
      assert.strictEqual(closeCode, 1008)
      assert.include(reason, "unknown or revoked")
    }).pipe(Effect.scoped)
  )
})

layer(executionsApi(), { excludeTestServices: true })("a stream whose holder may no longer", (it) => {
  const endOf = Effect.fnUntraced(function* (
    request: StreamRequest & { readonly operationId: string },
    end: Effect.Effect<unknown, unknown, SqlClient.SqlClient | TenantStore | SessionStore | UserStore>
  ) {
    const { data, event } = yield* lastFrameAfter(streamPath(request.operationId), request, end)
    assert.strictEqual(event, "stream.ended")
    return data.code
  })

  const changes = [
    [
      "has an expired key",
      Errors.KeyExpired,
      (tenantId: string) => (sql: SqlClient.SqlClient) =>
        sql`UPDATE api_keys SET expires_at = now() WHERE tenant_id = ${tenantId}`
    ],
    [
      "has lost the scope",
      Errors.PermissionDenied,
      (tenantId: string) => (sql: SqlClient.SqlClient) =>
        sql`UPDATE api_keys SET scopes = '{tenant:read}' WHERE tenant_id = ${tenantId}`
    ],
    [
      "has a key that is gone",
      Errors.KeyInvalid,
      (tenantId: string) => (sql: SqlClient.SqlClient) => sql`DELETE FROM api_keys WHERE tenant_id = ${tenantId}`
    ],
    [
      "is of a disabled tenant",
      Errors.TenantDisabled,
      (tenantId: string) => (sql: SqlClient.SqlClient) =>
        sql`UPDATE tenants SET disabled_at = now() WHERE tenant_id = ${tenantId}`
    ]
  ] as const
  for (const [what, error, change] of changes) {
    it.effect(`because it ${what} ends with ${error.contract.code}`, () =>
      Effect.gen(function* () {
        const { key, operationId, tenantId } = yield* accepted
        const changed = Effect.flatMap(SqlClient.SqlClient, change(tenantId))
        assert.strictEqual(yield* endOf({ key, operationId }, changed), error.contract.code)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("because a person signed out elsewhere, or is no member any more, ends with API_105", () =>
    Effect.gen(function* () {
      const { operationId, tenantId } = yield* accepted
      const one = yield* signedIn(newOwner(), tenantId)
      const other = yield* signedIn(newOwner(), tenantId)
      const now = yield* DateTime.now
      const signOut = Effect.flatMap(SessionStore, (sessions) => sessions.end(one.sessionId, now))
      assert.strictEqual(yield* endOf({ token: one.token, operationId }, signOut), "API_105")
      const remove = Effect.gen(function* () {
        const users = yield* UserStore
        const [found] = yield* (yield* SessionStore).findOpen([other.sessionId])
        assert.isTrue(yield* users.removeMember(tenantId, found!.session.userId))
      })
      assert.strictEqual(yield* endOf({ token: other.token, operationId }, remove), "API_105")
    }).pipe(Effect.scoped)
  )

  it.effect("goes on where a session's token was replaced meanwhile, and ends when its tenant is disabled", () =>
    Effect.gen(function* () {
      const { operationId, tenantId } = yield* accepted
      const { sessionId, token } = yield* signedIn(newOwner(), tenantId)
      const sql = yield* SqlClient.SqlClient
      const source = yield* (yield* Streams).openAt(streamPath(operationId), { token })
      yield* Effect.promise(source.nextEvent)
      yield* sql`UPDATE wallet_sessions SET hash = decode(repeat('00', 32), 'hex') WHERE session_id = ${sessionId}`
      yield* Effect.sleep("600 millis")
      yield* enter(operationId, "running")
      const next = yield* Effect.promise(source.nextEvent)
      assert.strictEqual(next?.event, "execution.state_changed")
      const disabled = yield* (yield* TenantStore).setDisabled(tenantId, yield* DateTime.now)
      assert.isTrue(Option.isSome(disabled))
      const rest = yield* Effect.promise(source.rest)
      assert.strictEqual(rest.at(-1)?.data.code, "API_106")
    }).pipe(Effect.scoped)
  )
})
