/**
 * A JSON-RPC endpoint in front of another one that keeps the methods it was asked for, and can be set to fail.
 */
import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface CountingProxy {
  readonly url: string
  /** The method of every request so far, a batch as one entry. */
  readonly requests: ReadonlyArray<string>
  /** Answers instead of the endpoint; undefined passes requests on. A batch has no parameters of its own. */
  answer:
    | ((
        method: string,
        params?: ReadonlyArray<unknown>
      ) => { readonly status: number; readonly body: string } | undefined)
    | undefined
}

interface Call {
  readonly method: string
  readonly params?: ReadonlyArray<unknown>
}

const readBody = async (stream: AsyncIterable<Buffer>) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const countingProxy = (target: string): Effect.Effect<CountingProxy, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<string> = []
    const proxy: CountingProxy = { url: "", requests, answer: undefined }
    const server = createServer((request, response) => {
      const serve = async () => {
        const body = await readBody(request)
        const parsed = JSON.parse(body) as Call | Array<Call>
        const method = Array.isArray(parsed) ? parsed.map((part) => part.method).join("+") : parsed.method
        requests.push(method)
        const own = proxy.answer?.(method, Array.isArray(parsed) ? [] : (parsed.params ?? []))
        if (own !== undefined)
          return response.writeHead(own.status, { "content-type": "application/json" }).end(own.body)
        const answer = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body })
        response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text())
      }
      serve().catch(() => response.destroy())
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  })
