/** The LI.FI adapter against its documented answers, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { encodeFunctionData, zeroHash } from "viem"
import { addressOf, type ChainId, evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import { type RouteRequest, Routing, type SwapRequest } from "#domain/trading/Routing.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { LifiRouting } from "#layers/routing/lifi/LifiRouting.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { lifiDiamondAbi } from "#layers/routing/lifi/checkSwap.ts"
import { evmConfigOf } from "#test/layers/evm/evmConfig.ts"

const sent = {
  txHash: `0x${"aa".repeat(32)}`,
  fromChainId: 8453 as ChainId,
  toChainId: 42161 as ChainId,
  tool: "vault"
}
const proof = `0x${"bb".repeat(32)}`

/** Our contract on Base, and the diamond that it calls. */
const contract = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const target = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress
const chainsConfigured = Layer.succeed(
  EvmConfig,
  evmConfigOf({ chainId: 8453 as ChainId, routedSwap: { contract, target } })
)

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const json = (
  response: ServerResponse,
  status: number,
  { body, headers = {} }: { readonly body: unknown; readonly headers?: Record<string, string> | undefined }
) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

/** Routing against a scripted server. */
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
      integrator: "ballast",
      exchanges: ["uniswap"]
    })
    return yield* Effect.flatMap(Routing, use).pipe(
      Effect.provide(LifiRouting.pipe(Layer.provide([config, chainsConfigured])))
    )
  }).pipe(Effect.scoped)

const statusFor = (body: unknown) =>
  against(
    (_, response) => json(response, 200, { body }),
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
        json(response, seen.length === 1 ? 500 : 200, { body: { status: "PENDING" } })
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

  it.live("after a 429 asks nothing for as long as the answer demands", () => {
    let requests = 0
    return against(
      (_, response) => {
        requests += 1
        json(response, 429, { body: { message: "Rate limit", code: 1005 }, headers: { "retry-after": "30" } })
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

  it.live("finds no route where LI.FI answers 404, and takes no answer of another shape", () =>
    Effect.gen(function* () {
      const request: RouteRequest = {
        sell: baseUsdc.assetId,
        buy: arbUsdc.assetId,
        amountRaw: 1n,
        accountId: evmAccount(8453 as ChainId, contract),
        bridgeAddress: target,
        minRaw: 1n
      }
      const none = yield* against(
        (_, response) => json(response, 404, { body: { code: 1002 } }),
        (routing) => routing.quote(request)
      )
      assert.isTrue(Option.isNone(none))
      const odd = yield* Effect.exit(
        against(
          (_, response) => json(response, 200, { body: { id: "x" } }),
          (routing) => routing.quote(request)
        )
      )
      assert.isTrue(Exit.isFailure(odd))
    })
  )
})

const swapRequest: SwapRequest = {
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  amountRaw: 1_000_000n,
  taker: contract,
  slippageBps: 50
}

const token = (assetId: typeof baseUsdc.assetId, priceUSD: string) => ({
  chainId: 8453,
  address: addressOf(assetId),
  symbol: "T",
  decimals: 6,
  name: "Token",
  priceUSD
})

/** A step in LI.FI's documented shape, with fields that the service does not read. */
const step = (tool: string, toAmount: string, change: object = {}) => ({
  id: `id-${tool}`,
  type: "lifi",
  tool,
  toolDetails: { key: tool, name: tool, logoURI: "" },
  action: {
    fromChainId: 8453,
    toChainId: 8453,
    fromToken: token(swapRequest.sell, "1"),
    toToken: token(swapRequest.buy, "2500"),
    fromAmount: "1000000",
    slippage: 0.005,
    fromAddress: contract,
    toAddress: contract
  },
  estimate: {
    tool,
    fromAmount: "1000000",
    toAmount,
    toAmountMin: "390000",
    approvalAddress: target,
    executionDuration: 30,
    feeCosts: [],
    gasCosts: [{ type: "SEND", amount: "1", amountUSD: "0.05", token: token(swapRequest.buy, "2500") }]
  },
  includedSteps: [],
  ...change
})

const route = (...steps: ReadonlyArray<object>) => ({
  id: "route",
  fromChainId: 8453,
  toChainId: 8453,
  fromAmount: "1000000",
  toAmount: "400000",
  toAmountMin: "390000",
  steps,
  tags: ["CHEAPEST"]
})

const transactionRequest = {
  from: contract,
  to: target,
  chainId: 8453,
  value: "0x0",
  gasLimit: "0x5208",
  data: encodeFunctionData({
    abi: lifiDiamondAbi,
    functionName: "swapTokensSingleV3ERC20ToERC20",
    args: [
      zeroHash,
      "ballast",
      "",
      toViem(contract),
      390_000n,
      {
        callTo: toViem(target),
        approveTo: toViem(target),
        sendingAssetId: toViem(addressOf(swapRequest.sell)),
        receivingAssetId: toViem(addressOf(swapRequest.buy)),
        fromAmount: 1_000_000n,
        callData: "0x",
        requiresDeposit: true
      }
    ]
  })
}

const bodyOf = (request: IncomingMessage, use: (body: unknown) => void) => {
  let text = ""
  request.on("data", (chunk: Buffer) => (text += chunk.toString())).on("end", () => use(JSON.parse(text)))
}

describe("LI.FI's swaps on one chain", () => {
  it.live("asks for routes to our contract, and makes a transaction of the one that is chosen", () => {
    const seen: Array<{ readonly url: string; readonly body: unknown; readonly key: unknown }> = []
    const offered = step("pools", "400000", { referrer: "kept as it is" })
    return against(
      (request, response) =>
        bodyOf(request, (body) => {
          seen.push({ url: request.url!, body, key: request.headers["x-lifi-api-key"] })
          if (request.url === "/v1/advanced/routes") {
            json(response, 200, {
              body: {
                routes: [
                  route(offered),
                  route(step("two", "500000"), step("steps", "500000")),
                  route(step("elsewhere", "500000", { action: { ...offered.action, toAddress: target } })),
                  { steps: "of another shape" }
                ],
                unavailableRoutes: { filteredOut: [], failed: [] }
              }
            })
          } else json(response, 200, { body: { ...offered, transactionRequest } })
        }),
      (routing) =>
        Effect.gen(function* () {
          const offers = yield* routing.swapQuotes(swapRequest)
          assert.deepStrictEqual(
            offers.map(({ expectedRaw, gasUsd, minRaw, tool }) => [tool, expectedRaw, minRaw, gasUsd]),
            [["pools", 400_000n, 390_000n, 50_000_000_000_000_000n]]
          )
          const call = yield* routing.swapCall(swapRequest, offers[0]!)
          assert.strictEqual(call.data, transactionRequest.data)
          assert.strictEqual(call.minRaw, 390_000n)
          assert.deepStrictEqual(
            seen.map(({ key, url }) => [url, key]),
            [
              ["/v1/advanced/routes", "secret-key"],
              ["/v1/advanced/stepTransaction?skipSimulation=true", "secret-key"]
            ]
          )
          assert.deepStrictEqual(seen[0]!.body, {
            fromChainId: 8453,
            fromTokenAddress: addressOf(swapRequest.sell),
            fromAmount: "1000000",
            fromAddress: contract,
            toChainId: 8453,
            toTokenAddress: addressOf(swapRequest.buy),
            toAddress: contract,
            options: {
              integrator: "ballast",
              slippage: 0.005,
              order: "CHEAPEST",
              allowSwitchChain: false,
              exchanges: { allow: ["uniswap"] }
            }
          })
          assert.deepStrictEqual(seen[1]!.body, offered)
        })
    )
  })

  it.live("refuses a transaction that is not what was asked for", () =>
    against(
      (request, response) =>
        request.url === "/v1/advanced/routes"
          ? json(response, 200, { body: { routes: [route(step("pools", "400000"))] } })
          : json(response, 200, {
              body: {
                ...step("pools", "400000"),
                transactionRequest: { ...transactionRequest, to: contract }
              }
            }),
      (routing) =>
        Effect.gen(function* () {
          const [offer] = yield* routing.swapQuotes(swapRequest)
          const refused = yield* Effect.flip(routing.swapCall(swapRequest, offer!))
          assert.strictEqual(refused._tag, "RouteRefused")
          assert.include(refused.message, "calls another contract")
        })
    )
  )

  for (const status of [500, 503, 424]) {
    it.live(`after a ${status} rests instead of asking again, and goes on with transfers`, () => {
      let routes = 0
      return against(
        (request, response) => {
          if (request.url !== "/v1/advanced/routes") return json(response, 200, { body: { status: "PENDING" } })
          routes += 1
          return json(response, status, { body: { message: "no", code: 1006 } })
        },
        (routing) =>
          Effect.gen(function* () {
            assert.isTrue(Exit.isFailure(yield* Effect.exit(routing.swapQuotes(swapRequest))))
            assert.isTrue(Exit.isFailure(yield* Effect.exit(routing.swapQuotes(swapRequest))))
            assert.strictEqual(routes, status === 424 ? 2 : 1)
            assert.strictEqual((yield* routing.status(sent))._tag, "Pending")
          })
      )
    })
  }

  it.live("a rate limit of swaps does not hold up transfers", () =>
    against(
      (request, response) =>
        request.url === "/v1/advanced/routes"
          ? json(response, 429, { body: { message: "Rate limit", code: 1005 }, headers: { "ratelimit-reset": "60" } })
          : json(response, 200, { body: { status: "PENDING" } }),
      (routing) =>
        Effect.gen(function* () {
          const first = yield* Effect.flip(routing.swapQuotes(swapRequest))
          assert.include(first.message, "429")
          const second = yield* Effect.flip(routing.swapQuotes(swapRequest))
          assert.include(second.message, "rate limit is reached; the next request goes out in")
          assert.strictEqual((yield* routing.status(sent))._tag, "Pending")
        })
    )
  )

  it.live("has no offers where LI.FI answers 404, and asks nothing for a contract that is not configured", () => {
    let requests = 0
    return against(
      (_, response) => {
        requests += 1
        json(response, 404, { body: { code: 1002 } })
      },
      (routing) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* routing.swapQuotes(swapRequest), [])
          const old = yield* Effect.flip(routing.swapQuotes({ ...swapRequest, taker: target }))
          assert.include(old.message, "ROUTED_SWAP_8453 does not name")
          assert.strictEqual(requests, 1)
        })
    )
  })
})
