/** Connections that end when the server is silent, and not while it speaks, plainly or under TLS. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Redacted } from "effect"
import { once } from "node:events"
import { createServer, type AddressInfo, type Server, type Socket } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import { connect as connectTls, createServer as createTlsServer } from "node:tls"
import { serverSocket } from "#layers/sql/serverSocket.ts"

const silence = Duration.millis(500)

/** Keys that both sides know: TLS without certificates. */
const psk = Buffer.alloc(16, 7)
const shared = { ciphers: "PSK-AES128-GCM-SHA256", maxVersion: "TLSv1.2" as const, minVersion: "TLSv1.2" as const }

/** Echoes everything until it is set to be silent. */
const echo = (socket: Socket) =>
  socket.on("error", () => undefined).on("data", (data: Buffer) => data.toString() !== "silence" && socket.write(data))

/** Whether by an error or not. */
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))

const listening = async (server: Server) => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

const kinds = [
  ["plainly", () => createServer(echo), (socket: Socket) => socket],
  [
    "under TLS",
    () => createTlsServer({ ...shared, pskCallback: () => psk }, echo),
    (socket: Socket) =>
      connectTls({
        ...shared,
        socket,
        checkServerIdentity: () => undefined,
        pskCallback: () => ({ psk, identity: "ballast" })
      })
  ]
] as const

describe("a connection to the database server", () => {
  it.each(kinds)("%s stays while bytes pass, and ends when none do", async (_, serve, wrap) => {
    const server = serve()
    const port = await listening(server)
    const raw = serverSocket(Redacted.make(`postgres://anybody@127.0.0.1:${port}/any`), silence)()
    const socket = wrap(raw)
    let isClosed = false
    socket.on("error", () => undefined).on("close", () => (isClosed = true))
    // For several times as long as it may be silent.
    for (let said = 0; said < 30; said++) {
      const echoed = once(socket, "data")
      socket.write(`word ${said}`)
      assert.strictEqual(String((await echoed)[0]), `word ${said}`)
      await wait(60)
    }
    assert.isFalse(isClosed)
    const ended = closed(socket)
    socket.write("silence")
    await ended
    assert.isTrue(raw.destroyed)
    server.close()
  })

  it("goes where the URL points: a host, one among the parameters, a socket in a folder", async () => {
    const server = createServer()
    const port = await listening(server)
    for (const url of [`postgres://anybody@127.0.0.1:${port}/any`, `postgres:///any?host=127.0.0.1&port=${port}`]) {
      const accepted = once(server, "connection")
      const socket = serverSocket(Redacted.make(url), silence)()
      ;((await accepted)[0] as Socket).destroy()
      await closed(socket)
    }
    server.close()
    const nowhere = serverSocket(Redacted.make("postgres:///any?host=/nowhere&port=1"), silence)()
    const error = await new Promise<Error>((resolve) => nowhere.once("error", resolve))
    assert.include(error.message, "/nowhere/.s.PGSQL.1")
  })
})
