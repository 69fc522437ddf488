/** A database that is away over the wires of procedures: `API_600`, to be sent again, and no fault of the service. */
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Layer, Logger } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { WebSocket } from "ws"
import { Unavailable } from "#domain/errors/Errors.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { makeProcedures } from "#rpc/client.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApiWith } from "#test/rpc/support/ExecutionsApi.ts"

const cutOff = Effect.suspend(() =>
  Effect.die(new SqlError({ reason: new ConnectionError({ cause: new Error("cut off") }) }))
)
/** Market of coins whose storage is away, and whose news have a fault. */
const Market = Layer.mock(CryptoMarketData, { platforms: cutOff, news: () => Effect.die(new Error("a fault of ours")) })

const log: Array<{ readonly level: string; readonly message: string; readonly cause: string }> = []
const Recorder = Logger.layer([
  Logger.make<unknown, void>(({ cause, logLevel, message }) => {
    log.push({ level: logLevel, message: String(message), cause: Cause.pretty(cause) })
  })
])

const procedure = "cryptoMarketData.getAssetPlatforms"
const { code, retryAfterSeconds, status } = Unavailable.contract

/** What was written since the last time. */
const logged = Effect.map(Effect.sleep("20 millis"), () =>
  log.splice(0).map(({ cause, level }) => [level, cause] as const)
)

/** One warning, which has the cause. */
const assertOneWarning = Effect.map(logged, (lines) => {
  assert.deepStrictEqual(
    lines.map(([level]) => level),
    ["Warn"]
  )
  assert.include(lines[0]![1], "cut off")
})

layer(executionsApiWith(Market)().pipe(Layer.provide(Recorder)), { excludeTestServices: true })(
  "a database that is away",
  (it) => {
    it.effect("is a 503 that says when to come back, on the interface's wire", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* logged
        const answer = yield* call("POST", `/v1/rpc/${procedure}`, { body: {} })
        assert.strictEqual(answer.status, status, answer.text)
        assert.strictEqual(answer.json.error.json.code, code)
        assert.strictEqual(answer.headers.get("retry-after"), String(retryAfterSeconds))
        assert.notInclude(answer.text, "cut off")
        yield* assertOneWarning
      })
    )

    it.effect("fails a call over Effect's RPC with Unavailable, and a fault stays one", () =>
      Effect.gen(function* () {
        const baseUrl = new URL((yield* Streams).url("x")).origin
        const client = yield* makeProcedures({ baseUrl })
        yield* logged
        const refused = yield* Effect.flip(client("cryptoMarketData.getAssetPlatforms", undefined))
        assert.instanceOf(refused, Unavailable)
        yield* assertOneWarning
        const fault = yield* Effect.flip(client("cryptoMarketData.getNews", { limit: 5 }))
        assert.strictEqual(fault._tag, "Internal")
        const [line] = yield* logged
        assert.strictEqual(line![0], "Error")
        assert.include(line![1], "a fault of ours")
      })
    )

    it.effect("fails a call over a socket in the same way, and the socket goes on", () =>
      Effect.gen(function* () {
        const { key } = yield* newTenant()
        const address = `${new URL((yield* Streams).url("x")).origin.replace("http", "ws")}/v1/rpc`
        const answers = yield* Effect.callback<ReadonlyArray<any>>((resume) => {
          const socket = new WebSocket(address, { headers: { "x-api-key": key } })
          const received: Array<unknown> = []
          const ask = (id: string) =>
            socket.send(JSON.stringify({ _tag: "Request", id, tag: procedure, payload: null, headers: [] }))
          socket.on("open", () => ask("1"))
          socket.on("message", (data) => {
            received.push(JSON.parse(String(data)))
            if (received.length === 1) return ask("2")
            socket.terminate()
            resume(Effect.succeed(received))
          })
        })
        const failures = answers.flat().map(({ exit }) => exit.cause[0].error._tag)
        assert.deepStrictEqual(failures, ["Unavailable", "Unavailable"])
      })
    )
  }
)
