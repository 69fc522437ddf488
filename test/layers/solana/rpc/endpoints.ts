/** An endpoint in front of a test chain that fails as a test sets it, and counts its requests. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Proxy {
  readonly url: string
  /** Methods in the order in which they were asked. */
  readonly asked: Array<string>
  /** What it does with the next requests. */
  answer: (
    method: string,
    forward: () => Promise<string>
  ) => Promise<{
    readonly status: number
    readonly body: string
    readonly headers?: Readonly<Record<string, string>>
  }>
  readonly close: () => Promise<void>
}

export const forwards: Proxy["answer"] = async (_, forward) => ({ status: 200, body: await forward() })

export const startProxy = async (target: string): Promise<Proxy> => {
  const state: Pick<Proxy, "answer" | "asked"> = { answer: forwards, asked: [] }
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part) => (body += part))
    request.on("end", () => {
      const { method } = JSON.parse(body) as { method: string }
      state.asked.push(method)
      const forward = async () => (await fetch(target, { method: "POST", body })).text()
      void (async () => {
        const { body, headers, status } = await state.answer(method, forward)
        response.writeHead(status, { "content-type": "application/json", location: `${target}/elsewhere`, ...headers })
        response.end(body)
      })()
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/key-of-the-operator`,
    close: () =>
      new Promise<void>((done) => {
        server.closeAllConnections()
        server.close(() => done())
      })
  })
}

export const rpcError = (code: number, message: string) => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } })
})

export const rpcResult = (result: unknown) => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, result })
})
