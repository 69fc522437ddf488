/** The transport against servers whose answers are made by hand. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createPublicClient } from "viem"
import { createServer, type RequestListener } from "node:http"
import { type AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { jsonRpcOverHttp, maxAnswerBytes } from "#layers/evm/rpc/jsonRpcOverHttp.ts"
import { describeRpcFailure, rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"

/** The host and port of a server that lives as long as the scope. */
const serving = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`))

const blockNumber = (url: string, retryCount = 0) =>
  createPublicClient({ transport: jsonRpcOverHttp(url, retryCount) }).getBlockNumber({ cacheTime: 0 })

/** What the service says of the failure, and everything that the failure holds. */
const failureOf = (url: string) =>
  Effect.promise(async () => {
    try {
      await blockNumber(url)
      return assert.fail("It answered")
    } catch (error) {
      return { error, reason: describeRpcFailure("eth_blockNumber", error) }
    }
  })

const answering = (status: number, body: string) => serving((_, response) => response.writeHead(status).end(body))

describe("JSON-RPC over HTTP", () => {
  it.live("reads an answer that comes compressed", () =>
    Effect.gen(function* () {
      const host = yield* serving((request, response) => {
        assert.strictEqual(request.headers["accept-encoding"], "gzip")
        response.writeHead(200, { "content-encoding": "gzip" })
        response.end(gzipSync(JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x2a" })))
      })
      assert.strictEqual(yield* Effect.promise(() => blockNumber(`http://${host}`)), 42n)
    })
  )

  it.live("cuts off a small answer that unpacks to more than it may be", () =>
    Effect.gen(function* () {
      const packed = gzipSync(" ".repeat(maxAnswerBytes + 1))
      assert.isBelow(packed.length, 10_000)
      const host = yield* serving((_, response) => {
        response.writeHead(200, { "content-encoding": "gzip" }).end(packed)
      })
      const { reason } = yield* failureOf(`http://${host}`)
      assert.strictEqual(reason, `eth_blockNumber: the answer is longer than ${maxAnswerBytes} bytes`)
    })
  )

  it.live("sends name and password of a URL as a header, and says neither them nor a key in the path", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const host = yield* serving((request, response) => {
        seen.push([request.headers.authorization, request.url])
        response.writeHead(401).end("no")
      })
      const { error, reason } = yield* failureOf(`http://ada:s%40crt@${host}/v3/k3y`)
      assert.deepStrictEqual(seen, [[`Basic ${Buffer.from("ada:s@crt").toString("base64")}`, "/v3/k3y"]])
      assert.strictEqual(reason, "eth_blockNumber: HTTP status 401")
      const everything = `${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`
      for (const secret of ["ada", "crt", "k3y"]) assert.notInclude(everything, secret)
    })
  )

  it.live("takes a node's own error for an answer, whatever the status", () =>
    Effect.gen(function* () {
      const own = { jsonrpc: "2.0", id: 1, error: { code: -32000, message: "nonce too low", data: "0x01" } }
      for (const status of [200, 400, 500]) {
        const { error, reason } = yield* failureOf(`http://${yield* answering(status, JSON.stringify(own))}`)
        assert.strictEqual(rpcErrorOf(error)?.data, "0x01")
        assert.strictEqual(reason, "eth_blockNumber: the node answered error -32000, nonce too low")
      }
    })
  )

  for (const [what, body] of [
    ["a page", "<html>welcome</html>"],
    ["nothing", ""],
    ["no result", `{"jsonrpc":"2.0","id":1}`],
    ["an error without a code", `{"jsonrpc":"2.0","id":1,"error":"oops"}`]
  ] as const) {
    it.live(`says that it could not read an answer that is ${what}`, () =>
      Effect.gen(function* () {
        const { error, reason } = yield* failureOf(`http://${yield* answering(200, body)}`)
        assert.strictEqual(reason, "eth_blockNumber: the answer could not be read")
        assert.isUndefined(rpcErrorOf(error))
      })
    )
  }

  it.live("says that it could not read an answer that is not compressed as it says", () =>
    Effect.gen(function* () {
      const host = yield* serving((_, response) => {
        response.writeHead(200, { "content-encoding": "gzip" }).end("plain")
      })
      const { reason } = yield* failureOf(`http://${host}`)
      assert.strictEqual(reason, "eth_blockNumber: the answer could not be read")
    })
  )

  it.live("repeats a request that failed as often as it may, each with a new id", () =>
    Effect.gen(function* () {
      const ids: Array<number> = []
      const host = yield* serving((request, response) => {
        let text = ""
        request.on("data", (chunk) => (text += chunk))
        request.on("end", () => {
          const { id } = JSON.parse(text) as { readonly id: number }
          ids.push(id)
          if (ids.length === 1) response.writeHead(503).end("overloaded")
          else response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x2a" }))
        })
      })
      assert.strictEqual(yield* Effect.promise(() => blockNumber(`http://${host}`, 1)), 42n)
      assert.deepStrictEqual(ids, [ids[0]!, ids[0]! + 1])
    })
  )
})
