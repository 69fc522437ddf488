import { once } from "node:events"
import { connect, type AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { startingServer } from "#src/service/startingServer.ts"

const listening = async (maxConnections: number) => {
  const server = startingServer({ maxConnections, keepAliveSeconds: 75 })().listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, port: (server.address() as AddressInfo).port }
}

describe("the server", () => {
  it("cuts connections without an answer until the routes are attached, and never after", async () => {
    const { port, server } = await listening(10)
    const url = `http://127.0.0.1:${port}`
    for (const path of ["/v2/events/stream", "/health/live", "/health/ready"])
      assert.strictEqual(await fetch(`${url}${path}`).then(String, () => "no answer"), "no answer")
    server.on("request", (_, response) => response.end("routes"))
    const later = await fetch(url)
    assert.deepStrictEqual([later.status, await later.text()], [200, "routes"])
    server.closeAllConnections()
    server.close()
  })

  it("keeps a connection without a request as long as it was told, and says so", async () => {
    const { port, server } = await listening(10)
    server.on("request", (_, response) => response.end("routes"))
    const answer = await fetch(`http://127.0.0.1:${port}`)
    assert.strictEqual(answer.headers.get("keep-alive"), "timeout=75")
    server.closeAllConnections()
    server.close()
  })

  it(
    "ends what does not finish its request within 15 seconds and the check that follows",
    { timeout: 120_000 },
    async () => {
      const { port, server } = await listening(10)
      server.on("request", () => {})
      const unfinished = [
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nonly so much",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\nnever: "
      ]
      const begun = performance.now()
      const ends = await Promise.all(
        unfinished.map(async (bytes) => {
          const socket = connect(port, "127.0.0.1")
          socket.on("error", () => {})
          socket.write(bytes)
          socket.resume()
          await once(socket, "close")
          return performance.now() - begun
        })
      )
      // Node's own limits are one minute for headers and five for a whole request.
      assert.isBelow(Math.max(...ends), 45_000)
      assert.deepStrictEqual([server.headersTimeout, server.requestTimeout], [10_000, 15_000])
      server.closeAllConnections()
      server.close()
    }
  )

  it("has a limit of open connections, and closes those beyond it", async () => {
    const { port, server } = await listening(2)
    server.on("request", (_, response) => response.end("served"))
    const open = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")]
    await Promise.all(open.map((socket) => once(socket, "connect")))
    const beyond = connect(port, "127.0.0.1")
    let heard = ""
    beyond.on("error", () => {})
    beyond.on("data", (chunk) => (heard += chunk))
    await once(beyond, "close")
    assert.strictEqual(heard, "", "closed at once: what is open for too long is answered 408")
    for (const socket of open) {
      socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
      assert.include(String((await once(socket, "data"))[0]), "served")
    }
    for (const socket of open) socket.destroy()
    server.close()
  })
})
