import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { assert, it } from "vitest"
import { startingServer } from "#src/service/startingServer.ts"

it("answers 503 in the envelope until the routes are attached, and never after", async () => {
  const server = startingServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const early = await fetch(url)
  assert.deepStrictEqual([early.status, early.headers.get("retry-after")], [503, "1"])
  assert.strictEqual((await early.json()).error.code, "API_600")
  server.on("request", (_, response) => response.end("routes"))
  const later = await fetch(url)
  assert.deepStrictEqual([later.status, await later.text()], [200, "routes"])
  server.closeAllConnections()
  server.close()
})
