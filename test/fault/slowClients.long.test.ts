/** Clients that do not read, where it takes a while to detect: little that waits, and streams of other kinds. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { appendMuch, cutByBytes, slowClient } from "#test/api/support/slowClient.ts"
import { accepted, append, enter, streamingApi, streamPath } from "#test/api/support/StreamingApi.ts"

// Nothing but the budget can cut a client in the time that a test may take.
const byBytes = { budget: 65_536, grace: Duration.seconds(4), timeout: Duration.minutes(10) }

layer(streamingApi(byBytes), { excludeTestServices: true })("a client that does not read", (it) => {
  it.effect("of the AG-UI stream is cut once more waits for it than the budget", () =>
    cutByBytes((operationId) => `/v1/ai/executions/${operationId}/ag-ui-stream`)
  )

  it.effect("is not disconnected while what waits for it is less, and gets all of it when it reads again", () =>
    Effect.gen(function* () {
      const { key, operationId } = yield* accepted
      const { socket } = yield* slowClient(streamPath(operationId), key)
      yield* enter(operationId, "running")
      for (let count = 0; count < 50; count++) yield* append(operationId, "withdrawn", { large: "x".repeat(1_000) })
      yield* Effect.sleep(Duration.times(byBytes.grace, 2))
      yield* enter(operationId, "failed", "the chain said no")
      const text = yield* Effect.promise(async () => {
        let received = ""
        socket.setEncoding("utf8").resume()
        for await (const chunk of socket) {
          received += chunk
          if (received.includes("event: execution.error")) break
        }
        return received
      })
      assert.lengthOf(text.match(/event: execution\.timeline_appended/gu)!, 50)
    })
  )
})

// The client that reads shares its process with the server, so both need time.
layer(streamingApi({ budget: 100_000_000, timeout: Duration.seconds(3) }), { excludeTestServices: true })(
  "a client that reads nothing for too long",
  (it) => {
    it.effect("is cut although little waits for it", () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const { cut } = yield* slowClient(streamPath(operationId), key)
        yield* appendMuch(operationId)
        yield* cut
      })
    )
  }
)
