/** The peer of the events benchmark: a loop over the open answers of a `node:http` server. The text is made once. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { timeOf } from "#bench/events/delaysIn.ts"

const clients = new Set<ServerResponse>()
let sequence = 0

const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  response.write("retry: 1000\n\n")
  clients.add(response)
  response.on("close", () => clients.delete(response))
})

const publish = () => {
  sequence += 1
  const at = performance.timeOrigin + performance.now()
  const data = JSON.stringify({ sequence, kind: "execution.timeline_appended", payload: { data: timeOf(at) } })
  for (const client of clients) client.write(`id: ${sequence}\nevent: execution.timeline_appended\ndata: ${data}\n\n`)
}

process.on("message", (order: { readonly publish?: boolean }) => {
  if (order.publish === true) {
    publish()
    return process.send?.({})
  }
  return server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port })
  )
})
