/** Effect's RPC over WebSockets at `/v1/rpc`: the library's own client, who may open one, and what one may cost. */
import { NodeSocket } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Metric, Stream } from "effect"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket } from "effect/socket"
import { WebSocket } from "ws"
import * as Errors from "#domain/errors/Errors.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { newOwner, newTenant } from "#test/api/support/actors.ts"
import { appendMuch, until } from "#test/api/support/slowClient.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { accepted, append, enter, Streams } from "#test/api/support/StreamingApi.ts"
import { unlimited } from "#test/api/support/Api.ts"
import { callLimit } from "#test/rpc/support/MarketApi.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const address = Effect.map(Streams, ({ url }) => `${new URL(url("x")).origin.replace("http", "ws")}/v1/rpc`)

/** The library's client over one socket, until the scope closes. */
const connected = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  const url = yield* address
  const protocol = yield* Layer.build(
    RpcClient.layerProtocolSocket({ pingInterval: "100 millis" }).pipe(
      Layer.provide(Layer.effect(Socket.Socket, Socket.makeWebSocket(url, { headers }))),
      Layer.provide([NodeSocket.layerWebSocketConstructor, RpcSerialization.layerJson])
    )
  )
  return yield* Effect.provideContext(RpcClient.make(ClientProcedures, { flatten: true }), protocol)
})

interface Opened {
  /** 101, or the status of the refusal. */
  readonly status: number
  readonly code: string | undefined
  readonly socket: WebSocket
  /** The code with which the server closed it; 1006 for a connection that was cut. */
  readonly closed: Promise<number>
}

/** A socket of another library, which says nothing by itself. */
const opened = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  const url = yield* address
  return yield* Effect.acquireRelease(
    Effect.callback<Opened>((resume) => {
      const socket = new WebSocket(url, { headers })
      const closed = new Promise<number>((resolve) => socket.on("close", resolve))
      socket.on("error", () => undefined)
      socket.on("open", () => resume(Effect.succeed({ status: 101, code: undefined, socket, closed })))
      socket.on("unexpected-response", async (_, response) => {
        let text = ""
        for await (const chunk of response) text += chunk
        const { error } = JSON.parse(text)
        const refusal = { status: response.statusCode ?? 0, code: error.json.code, socket, closed }
        resume(Effect.succeed(refusal))
      })
    }),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )
})

/** Streams and sockets that were cut so far. */
const cuts = Effect.map(Metric.value(Metrics.streamsCut), ({ count }) => Number(count))

const request = (id: number, tag: string, payload: unknown) =>
  JSON.stringify({ _tag: "Request", id: `${id}`, tag, payload, headers: [] })

const refused = (
  { code, status }: Opened,
  { contract }: { readonly contract: { readonly code: string; readonly status: number } }
) => assert.deepStrictEqual([status, code], [contract.status, contract.code])

layer(executionsApi({ timeout: Duration.seconds(2) }, { ...unlimited, global: callLimit }), {
  excludeTestServices: true
})("procedures over a WebSocket", (it) => {
  it.effect("answers calls and streams as over HTTP, with typed errors, to a key as well as to a wallet session", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const client = yield* connected({ "x-api-key": key })
      assert.strictEqual((yield* client("v2.executions.get", { operationId })).state, "accepted")
      const stream = yield* Effect.forkScoped(
        Stream.runCollect(client("v2.executions.stream", { operationId, lastEventId: "0-0" }))
      )
      yield* enter(operationId, "running")
      yield* append(operationId, "withdrawal_waits", { reason: "the chain does not answer" })
      yield* enter(operationId, "completed")
      const kinds = (yield* Fiber.join(stream)).map(({ kind }) => kind)
      assert.deepStrictEqual(kinds.slice(1), [
        "execution.state_changed",
        "execution.state_changed",
        "execution.timeline_appended",
        "execution.state_changed",
        "execution.result"
      ])
      const { token } = yield* signedIn(newOwner())
      const person = yield* connected({ authorization: `Bearer ${token}` })
      const missing = yield* Effect.flip(person("v2.executions.get", { operationId }))
      assert.strictEqual(missing._tag, "NotFound")
    })
  )

  it.effect("needs a key or a session when it is opened, and takes a cookie from the service's own pages alone", () =>
    Effect.gen(function* () {
      refused(yield* opened({}), Errors.KeyMissing)
      refused(yield* opened({ "x-api-key": "no key" }), Errors.KeyInvalid)
      refused(yield* opened({ authorization: "Bearer bs_guess" }), Errors.SessionInvalid)
      const { token } = yield* signedIn(newOwner())
      const cookie = `__Host-ballast_session=${token}`
      refused(yield* opened({ cookie, origin: "https://elsewhere.example" }), Errors.PermissionDenied)
      refused(yield* opened({ cookie }), Errors.PermissionDenied)
      const { key } = yield* newTenant()
      assert.strictEqual((yield* opened({ "x-api-key": key })).status, 101)
    })
  )

  it.effect("counts open sockets as streams of their key: one too many is refused until another ends", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const open = [yield* opened({ "x-api-key": key })]
      while (open.length < 4) open.push(yield* opened({ "x-api-key": key }))
      assert.isTrue(open.every(({ status }) => status === 101))
      refused(yield* opened({ "x-api-key": key }), Errors.RateLimited)
      const [{ closed, socket }] = open as [Opened]
      socket.close()
      yield* Effect.promise(() => closed)
      yield* until(Effect.map(opened({ "x-api-key": key }), ({ status }) => status === 101))
    })
  )

  it.effect("closes a socket with 1009 that sends a message of more than 64 KiB", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const { closed, socket } = yield* opened({ "x-api-key": key })
      socket.send("x".repeat(65_537))
      assert.strictEqual(yield* Effect.promise(() => closed), 1009)
    })
  )

  it.effect("answers input that is not valid with API_400 and its fields, and goes on", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { socket } = yield* opened({ "x-api-key": key })
      const call = () =>
        Effect.promise(
          () => new Promise<any>((resolve) => socket.once("message", (data) => resolve(JSON.parse(String(data)))))
        )
      socket.send(request(1, "v2.executions.get", { operationId: "op_x" }))
      const { exit, requestId } = yield* call()
      assert.deepStrictEqual([requestId, exit._tag], ["1", "Failure"])
      const [{ _tag, error }] = exit.cause
      assert.deepStrictEqual([_tag, error._tag], ["Fail", "ValidationFailed"])
      assert.match(error.details[0], /^operationId: /u)
      socket.send(request(2, "v2.executions.get", { operationId }))
      assert.strictEqual((yield* call()).exit._tag, "Success")
    })
  )

  it.effect(
    "takes who calls from the request that opened it: a message with headers of its own is refused, others go on",
    () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const stranger = yield* newTenant()
        const { socket } = yield* opened({ "x-api-key": stranger.key })
        const answers: Array<any> = []
        socket.on("message", (data) => answers.push(JSON.parse(String(data))))
        const answered = (id: string) =>
          Effect.as(until(Effect.sync(() => answers.some(({ requestId }) => requestId === id))), 0).pipe(
            Effect.map(() => answers.find(({ requestId }) => requestId === id).exit.cause?.[0].error)
          )
        const send = (id: string, headers: unknown) =>
          socket.send(
            JSON.stringify({ _tag: "Request", id, tag: "v2.executions.get", payload: { operationId }, headers })
          )
        for (const [id, headers] of [
          ["a", [["x-api-key", key]]],
          ["b", [["authorization", `Bearer ${key}`]]],
          ["c", [["Origin", "https://app.example.com"]]],
          ["d", undefined],
          ["e", null],
          ["f", "x-api-key"],
          ["g", [["x-api-key"]]]
        ] as const) {
          send(id, headers)
          const error = yield* answered(id)
          assert.strictEqual(error._tag, "ValidationFailed", id)
          assert.match(error.details[0], /^headers: /u)
        }
        send("h", [])
        assert.strictEqual((yield* answered("h"))._tag, "NotFound")
      })
  )

  it.effect("signs nobody in by cookie, which cannot be set here", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const client = yield* connected({ "x-api-key": key })
      const refusal = yield* Effect.flip(
        client("identity.signIn", { message: "x", signature: "0x", delivery: "cookie" })
      )
      assert.strictEqual(refusal._tag, "ValidationFailed")
    })
  )

  it.effect("answers a frame that is no message, or a list of too many, and goes on", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { socket } = yield* opened({ "x-api-key": key })
      const next = () =>
        Effect.promise(
          () => new Promise<any>((resolve) => socket.once("message", (data) => resolve(JSON.parse(String(data)))))
        )
      for (const frame of ["null", "7", "[null]", "{}", "{", `[${Array(101).fill('{"_tag":"Ping"}').join()}]`]) {
        const answer = next()
        socket.send(frame)
        assert.strictEqual((yield* answer)._tag, "Defect", frame)
      }
      socket.send(request(1, "v2.executions.nope", null))
      assert.strictEqual((yield* next()).exit.cause[0]._tag, "Die")
      socket.send(request(2, "v2.executions.get", { operationId }))
      assert.strictEqual((yield* next()).exit._tag, "Success")
    })
  )

  it.effect("closes a socket with 1001 that says nothing, and keeps one that pings", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const pinging = yield* connected({ "x-api-key": key })
      const { closed } = yield* opened({ "x-api-key": key })
      assert.strictEqual(yield* Effect.promise(() => closed), 1001)
      assert.strictEqual((yield* pinging("v2.executions.get", { operationId })).state, "accepted")
    })
  )

  it.effect("closes a socket with 1013 whose calls are more than its address may make", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { closed, socket } = yield* opened({ "x-api-key": key })
      for (let id = 0; id < 1_100; id++) socket.send(request(id, "v2.executions.get", { operationId }))
      assert.strictEqual(yield* Effect.promise(() => closed), 1013)
    })
  )
})

layer(executionsApi({ budget: 65_536, grace: Duration.seconds(1), timeout: Duration.minutes(5) }), {
  excludeTestServices: true
})("a client of a WebSocket that stops reading", (it) => {
  it.effect("is cut once more waits for it than the budget", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      yield* appendMuch(operationId)
      const cutBefore = yield* cuts
      const { closed, socket } = yield* opened({ "x-api-key": key })
      socket.pause()
      const payload = { operationId, limit: 200 }
      for (let id = 0; id < 3; id++) socket.send(request(id, "v2.executions.detail", payload))
      // Connections that are kept for further requests end by themselves; this one only when it is cut.
      yield* until(Effect.map(cuts, (count) => count > cutBefore))
      socket.resume()
      assert.strictEqual(yield* Effect.promise(() => closed), 1006)
    })
  )
})
