/**
 * An HTTP endpoint in front of the chain that counts what passes: requests, and the calls within them where they are
 * batches.
 */
import { Effect } from "effect"
import { Agent, createServer, request as ask } from "node:http"
import type { AddressInfo } from "node:net"

export interface Counted {
  readonly url: string
  /** HTTP requests by method since the last reset; a batch counts under the names of its calls. */
  readonly counts: Map<string, number>
}

export const countedEndpoint = Effect.fnUntraced(function* (target: string) {
  const counts = new Map<string, number>()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const server = createServer((incoming, outgoing) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const body = Buffer.concat(chunks)
      const parsed = JSON.parse(body.toString()) as { method: string } | Array<{ method: string }>
      const method = [parsed]
        .flat()
        .map((call) => call.method)
        .join("+")
      counts.set(method, (counts.get(method) ?? 0) + 1)
      const headers = { "content-type": "application/json", "content-length": body.length }
      const passed = ask(target, { method: "POST", agent, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" })
        answer.pipe(outgoing)
      })
      passed.on("error", () => outgoing.destroy())
      passed.end(body)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
        agent.destroy()
      })
  )
  const counted: Counted = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts }
  return counted
})
