/** A server that receives webhooks: notes what came and answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export interface Received {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Answering = (received: Received, response: ServerResponse, request: IncomingMessage) => void

export interface Receiver {
  readonly url: string
  readonly received: ReadonlyArray<Received>
  /** Connections that were opened. */
  readonly connections: () => number
  answer: Answering
}

export const status =
  (code: number): Answering =>
  (_, response) => {
    response.writeHead(code).end()
  }

/** Serves on a free port of the machine until the scope closes; answers 200 by default. */
export const receiver = (answer: Answering = status(200)) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const received: Array<Received> = []
        let connections = 0
        const made = { received, answer, connections: () => connections, url: "" }
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("error", () => {})
          request.on("end", () => {
            const one = {
              headers: request.headers as Record<string, string>,
              body: Buffer.concat(chunks).toString("utf8")
            }
            received.push(one)
            made.answer(one, response, request)
          })
        })
        server.on("connection", () => (connections += 1))
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
        return { made, server }
      }),
      ({ server }) =>
        Effect.promise(async () => {
          server.closeAllConnections()
          await new Promise((resolve) => server.close(resolve))
        })
    ),
    ({ made }): Receiver => made
  )
