/**
 * What an operator sees of calls: a line in the log for each that was refused or failed, and one metric of all,
 * whichever wire contained them.
 */
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Layer, Logger, Metric, References } from "effect"
import { SqlClient } from "effect/sql"
import { WebSocket } from "ws"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, unlimited } from "#test/api/support/Api.ts"
import { accepted, Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const procedure = "v2.executions.get"
const route = `/v1/rpc/${procedure}`
const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"
const hex = /^[0-9a-f]{32}$/u

interface Line {
  readonly level: string
  readonly message: string
  readonly cause: string
  readonly fields: Readonly<Record<string, unknown>>
}

const lines: Array<Line> = []

const capturing = Logger.layer([
  Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
    const fields = fiber.getRef(References.CurrentLogAnnotations)
    const pretty = Cause.pretty(cause)
    lines.push({ level: logLevel, message: String(message), cause: pretty, fields })
  })
])

/** Lines since the last time, but for those of requests that were answered. */
const taken = Effect.map(Effect.sleep("20 millis"), () =>
  lines.splice(0).filter(({ message }) => message !== "Answered")
)

/** How often each series of calls was counted, by its attributes in the order of their names. */
const counted = Effect.map(Metric.snapshot, (all) => {
  const series = all.filter(({ id }) => id === "rpc.server.call.duration")
  return new Map(
    series.map(({ attributes, state }) => {
      const { unit, ...named } = attributes as Readonly<Record<string, string>>
      assert.strictEqual(unit, "s")
      const text = Object.entries(named)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `${name}=${value}`)
        .join(" ")
      return [text, (state as { readonly count: number }).count]
    })
  )
})

type Counted = readonly [system: string, method: string, status: number, code?: string]

const seriesOf = (...[system, method, status, code]: Counted) =>
  [
    ...(code === undefined ? [] : [`error.type=${code}`]),
    `rpc.method=${method}`,
    `rpc.response.status_code=${status}`,
    `rpc.system.name=${system}`
  ].join(" ")

/** Measures by how much a series grew while an effect ran, and that no other did. */
const grown = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const before = yield* counted
  yield* effect
  const after = yield* counted
  return [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const).filter(([, by]) => by > 0)
})

interface Sent {
  readonly tag?: string
  readonly payload?: unknown
  readonly key?: string
}

const message = ({ payload = { operationId }, tag = procedure }: Sent, id = "7") =>
  JSON.stringify({ _tag: "Request", id, tag, payload, headers: [] })

/** One request of several calls, with the key of the first one that has one. */
const native = (...sent: ReadonlyArray<Sent>) =>
  Effect.gen(function* () {
    const { call } = yield* Api
    const key = sent.find((one) => one.key !== undefined)?.key
    return yield* call("POST", "/v1/rpc", {
      ...(key === undefined ? {} : { key }),
      headers: { "content-type": "application/ndjson" },
      text: sent.map((one, index) => `${message(one, `${index + 7}`)}\n`).join("")
    })
  })

/** The first answer over a socket that is opened with a key. */
const socket = (sent: Sent, key: string) =>
  Effect.gen(function* () {
    const { url } = yield* Streams
    const address = `${new URL(url("x")).origin.replace("http", "ws")}/v1/rpc`
    return yield* Effect.callback<string>((resume) => {
      const opened = new WebSocket(address, { headers: { "x-api-key": key } })
      opened.on("open", () => opened.send(message(sent)))
      opened.on("message", (data) => {
        resume(Effect.succeed(String(data)))
        opened.terminate()
      })
      opened.on("close", (code) => resume(Effect.succeed(`closed ${code}`)))
    })
  })

const json = (payload: unknown, key?: string) =>
  Effect.flatMap(Api, ({ call }) =>
    call("POST", route, { ...(key === undefined ? {} : { key }), body: { json: payload } })
  )

const api = executionsApi({}, unlimited, "Info").pipe(Layer.provide(capturing))

layer(api, { excludeTestServices: true })("calls of procedures", (it) => {
  it.effect("that are refused leave one line each on either wire, with code, key and the ids of their request", () =>
    Effect.gen(function* () {
      const { apiKeyId, key, tenantId } = yield* newTenant()
      yield* taken
      for (const [sent, status, code] of [
        [{}, 401, "API_101"],
        [{ payload: { operationId: 7 } }, 401, "API_101"],
        [{ key, payload: { operationId: 7 } }, 400, "API_400"],
        [{ key }, 404, "API_006"]
      ] as const) {
        const whose = status === 401 ? {} : { tenantId, apiKeyId }
        const payload = "payload" in sent ? sent.payload : { operationId }
        for (const [method, callId, ask] of [
          ["POST", {}, json(payload, "key" in sent ? key : undefined)],
          ["RPC", { callId: "7" }, native(sent)]
        ] as const) {
          const answer = yield* ask
          const [line, ...others] = (yield* taken).filter(
            ({ fields }) => fields["requestId"] === answer.headers.get("x-request-id")
          )
          assert.isEmpty(others)
          const { milliseconds, ...fields } = line!.fields
          assert.isAtLeast(milliseconds as number, 0)
          const correlationId = answer.headers.get("x-correlation-id")
          const requestId = answer.headers.get("x-request-id")
          assert.deepStrictEqual([line!.level, line!.message], ["Info", "Refused"])
          assert.deepStrictEqual(fields, { method, route, ...callId, status, code, ...whose, correlationId, requestId })
        }
      }
    })
  )

  it.effect("over a socket leave one line each, with the ids of the request that opened it", () =>
    Effect.gen(function* () {
      const { apiKeyId, key, tenantId } = yield* newTenant()
      yield* taken
      for (const [sent, status, code] of [
        [{}, 404, "API_006"],
        [{ payload: {} }, 400, "API_400"]
      ] as const) {
        assert.include(yield* socket(sent, key), "Failure")
        const [line, ...others] = yield* taken
        assert.isEmpty(others)
        const { correlationId, requestId, ...fields } = line!.fields
        assert.match(String(correlationId), hex)
        assert.match(String(requestId), hex)
        assert.deepInclude(fields, { method: "RPC", route, callId: "7", status, code })
        if (status === 404) assert.deepInclude(fields, { tenantId, apiKeyId })
      }
    })
  )

  it.effect("of one request are a line each, and what is no procedure is refused too", () =>
    Effect.gen(function* () {
      const one = yield* newTenant()
      yield* taken
      yield* native({ key: one.key }, {}, { tag: "v2.nothing" })
      const seen = (yield* taken).map(({ fields }) => [fields["callId"], fields["route"], fields["tenantId"]])
      assert.sameDeepMembers(seen, [
        ["7", route, one.tenantId],
        ["8", route, one.tenantId],
        ["9", "unmatched", undefined]
      ])
    })
  )

  it.effect(
    "are measured by method, status and code of the error on either wire, and nothing of theirs is counted twice",
    () =>
      Effect.gen(function* () {
        const { key, operationId: own } = yield* accepted
        assert.deepStrictEqual(yield* grown(json({ operationId })), [[seriesOf("json", procedure, 401, "API_101"), 1]])
        assert.deepStrictEqual(yield* grown(json({ operationId: 7 }, key)), [
          [seriesOf("json", procedure, 400, "API_400"), 1]
        ])
        assert.sameDeepMembers(
          yield* grown(
            Effect.andThen(
              native({}, {}),
              native({ key, payload: 7 }, {}, { tag: "x" }, { payload: { operationId: own } })
            )
          ),
          [
            [seriesOf("effect_rpc", procedure, 401, "API_101"), 2],
            [seriesOf("effect_rpc", procedure, 400, "API_400"), 1],
            [seriesOf("effect_rpc", procedure, 404, "API_006"), 1],
            [seriesOf("effect_rpc", "_OTHER", 404, "API_006"), 1],
            [seriesOf("effect_rpc", procedure, 200), 1]
          ]
        )
      })
  )

  it.effect(
    "that fail by a fault, as where a table was renamed, are failures in log and metric though HTTP says 200",
    () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        const sql = yield* SqlClient.SqlClient
        yield* sql`ALTER TABLE operations RENAME TO operations_away`
        const asked: ReadonlyArray<
          readonly ["json" | "effect_rpc", string, Effect.Effect<void, never, Api | Streams>]
        > = [
          ["json", "POST", Effect.asVoid(json({ operationId }, key))],
          ["effect_rpc", "RPC", Effect.map(native({ key }), ({ status }) => assert.strictEqual(status, 200))],
          ["effect_rpc", "RPC", Effect.asVoid(socket({}, key))]
        ]
        yield* Effect.gen(function* () {
          for (const [system, wire, ask] of asked) {
            yield* taken
            const [series] = yield* grown(ask)
            assert.deepStrictEqual(series, [seriesOf(system, procedure, 500, "API_600"), 1])
            const [fault, failed] = (yield* taken).toSorted((a) => (a.level === "Error" ? -1 : 1))
            assert.include(fault!.cause, "SqlError")
            assert.deepInclude(failed, { level: "Info", message: "Failed" })
            assert.deepInclude(failed!.fields, { method: wire, route, status: 500, code: "API_600" })
            assert.strictEqual(failed!.fields["requestId"], fault!.fields["requestId"])
            assert.strictEqual(failed!.fields["correlationId"], fault!.fields["correlationId"])
          }
        }).pipe(Effect.ensuring(Effect.orDie(sql`ALTER TABLE operations_away RENAME TO operations`)))
      })
  )
})

const limited = executionsApi({}, { ...unlimited, global: 3 }, "Info").pipe(Layer.provide(capturing))

layer(limited, { excludeTestServices: true })("calls above the limit of an address", (it) => {
  it.effect("over a socket are a line too, where the socket is ended", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      yield* taken
      const answers = yield* Effect.all([socket({}, key), socket({}, key)])
      assert.deepStrictEqual(answers[1], "closed 1013")
      assert.deepInclude((yield* taken).at(-1)!.fields, { method: "RPC", route, status: 429, code: "API_004" })
    })
  )
})
