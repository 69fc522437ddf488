/** What the API says when it cannot have its address. */
import { assert, it } from "@effect/vitest"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { listeningOn } from "#src/service/CannotListen.ts"

const taken = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () =>
      resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close: () => server.close() }))
    )
  }),
  ({ close }) => Effect.sync(close)
)

it.live("a port that another program has is named, with what to do", () =>
  Effect.gen(function* () {
    const { port } = yield* taken
    const host = "127.0.0.1"
    const server = NodeHttpServer.layer(() => createServer(), { host, port }).pipe(listeningOn({ host, port }))
    const { message } = yield* Effect.flip(Effect.scoped(Layer.build(server)))
    assert.include(message, `The API cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`)
    assert.include(message, "set PORT")
  })
)
