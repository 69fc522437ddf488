/** Connections of a real server: how many an address has, and that none is held by an answer that does not come. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { Duration } from "effect"
import { IpNetwork } from "effect/net"
import { afterEach, assert, describe, it } from "vitest"
import { boundedConnections, type ConnectionBounds } from "#src/service/boundedConnections.ts"

const ends: Array<() => void> = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

const generous: ConnectionBounds = { maxPerAddress: 3, trustedProxies: [], longestAnswer: Duration.seconds(1) }

const listening = async (bounds: Partial<ConnectionBounds>, routes: RequestListener) => {
  const server = boundedConnections(createServer(), { ...generous, ...bounds }).on("request", routes)
  await once(server.listen(0, "::"), "listening")
  ends.push(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const open = (port: number, localAddress: string): Socket => {
  const socket = connect({ port, host: "127.0.0.1", localAddress })
  socket.on("error", () => {})
  ends.push(() => socket.destroy())
  return socket
}

const get = "GET / HTTP/1.1\r\nhost: x\r\n\r\n"

/** What the server answers to a request on a connection; undefined where it closes it. */
const answerOn = async (socket: Socket): Promise<string | undefined> => {
  socket.write(get)
  const [first] = (await Promise.race([once(socket, "data"), once(socket, "close")])) as [unknown]
  return Buffer.isBuffer(first) ? first.toString() : undefined
}

describe("connections of an address", () => {
  const ok: RequestListener = (_, response) => void response.end("served")

  it("beyond its share are closed, those of others are not, and one that ended makes room", async () => {
    const port = await listening({}, ok)
    const mine = [open(port, "127.0.0.2"), open(port, "127.0.0.2"), open(port, "127.0.0.2")]
    for (const socket of mine) assert.include(await answerOn(socket), "served")
    assert.isUndefined(await answerOn(open(port, "127.0.0.2")))
    assert.include(await answerOn(open(port, "127.0.0.3")), "served")
    mine[0]!.end()
    await once(mine[0]!, "close")
    // The server sees it by itself, a moment later.
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.include(await answerOn(open(port, "127.0.0.2")), "served")
  })

  it("of a trusted proxy are not counted, which include the requests of many", async () => {
    const port = await listening({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.4/32")] }, ok)
    for (let count = 0; count < 6; count += 1) assert.include(await answerOn(open(port, "127.0.0.4")), "served")
  })
})

describe("a connection", () => {
  it("whose answer never begins is ended", async () => {
    const port = await listening({}, () => {})
    assert.isUndefined(await answerOn(open(port, "127.0.0.2")))
  })

  it("whose client does not take its answer is ended", async () => {
    // A client that reads nothing does not see it: the server's end of the connection does.
    const closed = Promise.withResolvers<void>()
    const port = await listening({}, ({ socket }, response) => {
      socket.on("close", () => closed.resolve())
      response.end(Buffer.alloc(64 * 1024 * 1024))
    })
    const socket = open(port, "127.0.0.2")
    socket.write(get)
    socket.pause()
    await closed.promise
  })

  for (const version of ["1.1", "1.0"])
    it(`with a stream that is answered lasts, over HTTP/${version}`, async () => {
      const port = await listening({}, (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write("data: 1\n\n")
        const timer = setInterval(() => response.write("data: 2\n\n"), 500)
        response.on("close", () => clearInterval(timer))
      })
      const socket = open(port, "127.0.0.2")
      socket.write(get.replace("1.1", version))
      const begun = performance.now()
      // Fails with the connection: nothing comes after it has closed.
      while (performance.now() - begun < 6_000) await once(socket, "data", { signal: AbortSignal.timeout(5_000) })
      assert.isFalse(socket.closed)
    })
})
