/** A server that hands what comes over a socket to a web handler, until the scope closes. Answers its address. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export const listening = (handle: (request: Request) => Promise<Response>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(async (request, response) => {
        const chunks: Array<Buffer> = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        const answer = await handle(
          new Request(`http://api.test${request.url}`, {
            method: request.method!,
            headers: request.headers as Record<string, string>,
            body: Buffer.concat(chunks)
          })
        )
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))
