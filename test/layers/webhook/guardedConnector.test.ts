/** The connector by itself, where no rule of URLs stands before it. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { buildConnector } from "undici"
import { AddressRefused, guardedConnector, guardedLookup, type Resolve } from "#layers/webhook/guardedConnector.ts"
import { receiver } from "#test/support/Receiver.ts"

const never: Resolve = () => assert.fail("an address in the place of a name is not looked up")

const connected = (connect: buildConnector.connector, hostname: string, port: string) =>
  Effect.promise(
    () =>
      new Promise<Error | null>((resolve) => {
        connect({ hostname, port, protocol: "http:" }, (error, socket) => {
          socket?.destroy()
          resolve(error)
        })
      })
  )

it.live("refuses addresses in the place of a name", () =>
  Effect.gen(function* () {
    const server = yield* receiver()
    const { port } = new URL(server.url)
    const connect = guardedConnector("public", never, 1_000)
    for (const host of ["127.0.0.1", "[::1]", "::ffff:127.0.0.1", "10.0.0.1"])
      assert.instanceOf(yield* connected(connect, host, port), AddressRefused, host)
    assert.strictEqual(server.connections(), 0)
    assert.isNull(yield* connected(guardedConnector("loopback", never, 1_000), "127.0.0.1", port))
  }).pipe(Effect.scoped)
)

it("answers sockets one address or all, and only what was judged", () => {
  const lookup = guardedLookup("public", (_, done) =>
    done(null, [
      { address: "93.184.216.34", family: 4 },
      { address: "2606:4700::1", family: 6 }
    ])
  )
  const answers: Array<ReadonlyArray<unknown>> = []
  lookup("hooks.example.com", { all: false }, (...answer) => answers.push(answer))
  lookup("hooks.example.com", { all: true }, (...answer) => answers.push(answer))
  assert.deepStrictEqual(answers, [
    [null, "93.184.216.34", 4],
    [
      null,
      [
        { address: "93.184.216.34", family: 4 },
        { address: "2606:4700::1", family: 6 }
      ]
    ]
  ])
})
