/** The LI.FI adapter against its documented answers, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { ChainId } from "#domain/Caip.ts"
import { Routing } from "#domain/routing/Routing.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { RoutingLive } from "#layers/routing/lifi/RoutingLive.ts"

const sent = {
  txHash: `0x${"aa".repeat(32)}`,
  fromChainId: 8453 as ChainId,
  toChainId: 42161 as ChainId,
  tool: "vault"
}
const proof = `0x${"bb".repeat(32)}`

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

/** Routing against a server that answers as told. */
const against = <A, E>(handler: Handler, use: (routing: Routing["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const server = yield* Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<ReturnType<typeof createServer>>((ready) => {
            const created = createServer(handler).listen(0, "127.0.0.1", () => ready(created))
          })
      ),
      (running) => Effect.sync(() => running.close())
    )
    const { port } = server.address() as AddressInfo
    const config = Layer.succeed(LifiConfig, {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKey: Redacted.make("secret-key"),
      integrator: "ballast"
    })
    return yield* Effect.flatMap(Routing, use).pipe(Effect.provide(RoutingLive.pipe(Layer.provide(config))))
  }).pipe(Effect.scoped)

const statusFor = (body: unknown) =>
  against(
    (_, response) => json(response, 200, body),
    (routing) => routing.status(sent)
  )

describe("LI.FI", () => {
  for (const [body, tag] of [
    [{ status: "NOT_FOUND" }, "Pending"],
    [{ status: "INVALID" }, "Pending"],
    [{ status: "PENDING", substatus: "WAIT_DESTINATION_TRANSACTION", receiving: { chainId: 42161 } }, "Pending"],
    [{ status: "DONE", substatus: "COMPLETED", receiving: { chainId: 42161, txHash: proof } }, "Delivered"],
    [{ status: "DONE", substatus: "PARTIAL", receiving: { chainId: 42161, txHash: proof } }, "Partial"],
    [{ status: "DONE", substatus: "REFUNDED", receiving: { chainId: 8453, txHash: proof } }, "Refunded"],
    [{ status: "DONE", substatus: "COMPLETED", receiving: { chainId: 42161 } }, "Pending"],
    [{ status: "DONE", substatus: "COMPLETED", receiving: { chainId: 8453, txHash: proof } }, "Pending"],
    [{ status: "DONE", substatus: "SOMETHING_NEW", receiving: { chainId: 42161, txHash: proof } }, "Pending"],
    [{ status: "FAILED", substatus: "OUT_OF_GAS" }, "Failed"]
  ] as const) {
    it.live(`reads ${JSON.stringify(body).slice(0, 70)} as ${tag}`, () =>
      Effect.map(statusFor(body), ({ _tag }) => assert.strictEqual(_tag, tag))
    )
  }

  it.live("sends the key, the hash and both chains, and tries once more after a fault of the server", () => {
    const seen: Array<IncomingMessage> = []
    return against(
      (request, response) => {
        seen.push(request)
        json(response, seen.length === 1 ? 500 : 200, { status: "PENDING" })
      },
      (routing) => routing.status(sent)
    ).pipe(
      Effect.map(() => {
        assert.lengthOf(seen, 2)
        const { searchParams } = new URL(seen[1]!.url!, "http://test")
        assert.deepStrictEqual(Object.fromEntries(searchParams), {
          txHash: sent.txHash,
          bridge: "vault",
          fromChain: "8453",
          toChain: "42161"
        })
        assert.strictEqual(seen[1]!.headers["x-lifi-api-key"], "secret-key")
      })
    )
  })

  it.live("after a 429 asks nothing for as long as it was told", () => {
    let requests = 0
    return against(
      (_, response) => {
        requests += 1
        json(response, 429, { message: "Rate limit", code: 1005 }, { "retry-after": "30" })
      },
      (routing) =>
        Effect.gen(function* () {
          const first = yield* Effect.exit(routing.status(sent))
          const second = yield* Effect.exit(routing.status(sent))
          assert.isTrue(Exit.isFailure(first) && Exit.isFailure(second))
          assert.strictEqual(requests, 1)
        })
    )
  })

  it.live("knows no route where LI.FI answers 404, and takes no answer of another shape", () =>
    Effect.gen(function* () {
      const request = {
        sell: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        buy: "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
        amountRaw: 1n,
        accountId: "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7",
        bridge: "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        leastRaw: 1n
      } as never
      const none = yield* against(
        (_, response) => json(response, 404, { code: 1002 }),
        (routing) => routing.quote(request)
      )
      assert.isTrue(Option.isNone(none))
      const odd = yield* Effect.exit(
        against(
          (_, response) => json(response, 200, { id: "x" }),
          (routing) => routing.quote(request)
        )
      )
      assert.isTrue(Exit.isFailure(odd))
    })
  )
})
