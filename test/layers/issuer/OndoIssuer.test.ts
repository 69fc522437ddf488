/** The adapter of Ondo against its documented answers, over HTTP. Source: docs.ondo.finance. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { decodeFunctionData, type Hex } from "viem"
import type { Asset } from "#domain/asset/Asset.ts"
import { type ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { Issuer, type IssuerTrade } from "#domain/trading/Issuer.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { managerAbi } from "#layers/issuer/ondo/managerCalls.ts"
import { OndoConfig } from "#layers/issuer/ondo/OndoConfig.ts"
import { OndoIssuer, bought, broughtBy, costOf } from "#layers/issuer/ondo/OndoIssuer.ts"
import { evmConfigOf } from "#test/layers/evm/evmConfig.ts"

const chainId = 1 as ChainId
const asset = (symbol: string, decimals: number, address: string): Asset => ({
  assetId: erc20(chainId, address as EvmAddress),
  chainId,
  symbol,
  name: symbol,
  decimals,
  isBlocked: false
})
const usdc = asset("USDC", 6, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
const share = asset("AAPLon", 18, "0x14c3abF95Cb9C93a8b82C1CdCB76D72Cb87b2d4c")
const manager = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const chains = Layer.succeed(
  EvmConfig,
  evmConfigOf({ chainId, issuer: { manager, stable: addressOf(usdc.assetId), chain: "ethereum-1" } })
)

interface Seen {
  readonly path: string
  readonly key: string | undefined
  readonly body: any
}
type Answer = (seen: Seen, count: number) => { readonly status?: number; readonly body: unknown }

const signature = Buffer.from(Uint8Array.from({ length: 65 }, (_, index) => index)).toString("base64")

/** What Ondo would answer at a price, US dollars with 18 decimals. */
const honest = ({ body, path }: Seen, price: bigint) => ({
  chainId: "1",
  symbol: body.symbol,
  ticker: "AAPL",
  assetAddress: addressOf(share.assetId).toLowerCase(),
  side: body.side === "buy" ? "0" : "1",
  tokenAmount: `${Decimal.parse(body.tokenAmount)}`,
  price: `${price}`,
  ...(path.endsWith("soft")
    ? {}
    : {
        attestationId: "229852750420835981756873903928305653446",
        userId: `0x474d${"0".repeat(60)}`,
        expiration: Math.floor(Date.now() / 1000) + 30,
        signature,
        additionalData: ""
      })
})

const price = 225_273_151_158_540_753_535n

/** The adapter against a scripted server, and what the server was asked. */
const against = <A, E>(answer: Answer, use: (issuer: Issuer["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const handle = async (request: IncomingMessage, response: ServerResponse) => {
      let text = ""
      for await (const chunk of request) text += chunk
      const one = { path: request.url!, key: request.headers["x-api-key"]?.toString(), body: JSON.parse(text) }
      seen.push(one)
      const { body, status = 200 } = answer(one, seen.length)
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }
    const server = yield* Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<ReturnType<typeof createServer>>((ready) => {
            const created = createServer((request, response) => void handle(request, response)).listen(
              0,
              "127.0.0.1",
              () => ready(created)
            )
          })
      ),
      (running) => Effect.sync(() => running.close())
    )
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const config = Layer.succeed(OndoConfig, { baseUrl, apiKey: Redacted.make("secret-key") })
    const result = yield* Effect.flatMap(Issuer, use).pipe(
      Effect.provide(OndoIssuer.pipe(Layer.provide([config, chains])))
    )
    return { result, seen }
  }).pipe(Effect.scoped)

const purchase: IssuerTrade = { sell: usdc, buy: share, amountRaw: 1_000_000_000n }
const sale: IssuerTrade = { sell: share, buy: usdc, amountRaw: 3n * Decimal.one }

const callOf = (data: string) => {
  const { args, functionName } = decodeFunctionData({ abi: managerAbi, data: data as Hex })
  const [quote, signed, token, amount] = args
  return { functionName, quote, signed, token, amount }
}

describe("Ondo", () => {
  it.live("a purchase asks for as many tokens as the amount buys, and pays what they cost and no more", () =>
    Effect.gen(function* () {
      const { result, seen } = yield* against(
        (one) => ({ body: honest(one, price) }),
        ({ signedQuote }) => signedQuote(purchase)
      )
      const quantity = bought(purchase.amountRaw, 6, price)
      assert.deepInclude(result, { issuer: "ondo", receiveRaw: quantity, priceUsd: price, feeUsd: 0n })
      assert.strictEqual(result.direct.venue, manager)
      const { amount, functionName, quote, signed, token } = callOf(result.direct.data)
      assert.strictEqual(functionName, "mintWithAttestation")
      assert.deepInclude(quote, { chainId: 1n, price, quantity, side: 0, asset: toViem(addressOf(share.assetId)) })
      assert.strictEqual(quote.additionalData, `0x${"0".repeat(64)}`)
      assert.strictEqual(signed, `0x${Buffer.from(signature, "base64").toString("hex")}`)
      assert.strictEqual(token, addressOf(usdc.assetId) as string)
      assert.isTrue(amount <= purchase.amountRaw && amount > purchase.amountRaw - 3n, `${amount}`)
      assert.deepStrictEqual(
        seen.map(({ path }) => path),
        ["/v1/attestations/soft", "/v1/attestations/soft", "/v1/attestations"]
      )
      const { body, key } = seen.at(-1)!
      assert.strictEqual(key, "secret-key")
      assert.deepStrictEqual(body, {
        chainId: "ethereum-1",
        symbol: "AAPLon",
        side: "buy",
        tokenAmount: Decimal.format(quantity, 18),
        duration: "short"
      })
    })
  )

  it.live("a sale hands over all of it for at least what the signed price says", () =>
    Effect.gen(function* () {
      const { result } = yield* against(
        (one) => ({ body: honest(one, price) }),
        ({ signedQuote }) => signedQuote(sale)
      )
      const { amount, functionName, quote } = callOf(result.direct.data)
      assert.strictEqual(functionName, "redeemWithAttestation")
      assert.deepInclude(quote, { side: 1, quantity: sale.amountRaw })
      assert.deepStrictEqual([amount, result.receiveRaw], [675_819_453n, 675_819_453n])
    })
  )

  it.live("a price that rose while it was signed makes the purchase smaller, once; then it is refused", () =>
    Effect.gen(function* () {
      const dearer = (price * 101n) / 100n
      const { result, seen } = yield* against(
        (one) => ({ body: honest(one, one.path.endsWith("soft") ? price : dearer) }),
        ({ signedQuote }) => signedQuote(purchase)
      )
      assert.strictEqual(result.receiveRaw, bought(purchase.amountRaw, 6, dearer))
      assert.lengthOf(seen, 4)
      const rising = yield* Effect.flip(
        against(
          (one, count) => ({ body: honest(one, price + BigInt(count) * Decimal.one) }),
          ({ signedQuote }) => signedQuote(purchase)
        )
      )
      assert.strictEqual(rising._tag, "IssuerRefused")
      assert.include(rising.message, "rises from request to request")
    })
  )

  for (const [what, change] of [
    ["another chain", { chainId: "56" }],
    ["another symbol", { symbol: "TSLAon" }],
    ["another token", { assetAddress: addressOf(usdc.assetId) }],
    ["another token", { assetAddress: "nothing" }],
    ["the other side", { side: "1" }],
    ["another amount", { tokenAmount: "1" }],
    ["its price is zero", { price: "0" }]
  ] as const) {
    it.live(`refuses an answer that is ${what}: ${JSON.stringify(change)}`, () =>
      Effect.gen(function* () {
        const refusal = yield* Effect.flip(
          against(
            (one) => ({ body: { ...honest(one, price), ...change } }),
            ({ quote }) => quote(purchase)
          )
        )
        assert.strictEqual(refusal._tag, "IssuerRefused")
        assert.include(refusal.message, what)
      })
    )
  }

  for (const [what, change] of [
    ["is over", { expiration: 1 }],
    ["holds for days", { expiration: Math.floor(Date.now() / 1000) + 86_400 }]
  ] as const) {
    it.live(`refuses a signature that ${what}`, () =>
      Effect.gen(function* () {
        const refusal = yield* Effect.flip(
          against(
            (one) => ({ body: { ...honest(one, price), ...(one.path.endsWith("soft") ? {} : change) } }),
            ({ signedQuote }) => signedQuote(sale)
          )
        )
        assert.strictEqual(refusal._tag, "IssuerRefused")
        assert.include(refusal.message, "which is not usable")
      })
    )
  }

  for (const [what, answer, tag, words] of [
    [
      "a shut market",
      { status: 403, body: { code: "MARKET_CLOSED", message: "market is closed" } },
      "IssuerRefused",
      "MARKET_CLOSED"
    ],
    [
      "a wrong key",
      { status: 401, body: { code: "INVALID_API_KEY", message: "no" } },
      "IssuerSilent",
      "check ONDO_API_KEY"
    ],
    ["a fault of Ondo's", { status: 500, body: {} }, "IssuerSilent", "answered 500"],
    ["an answer of another shape", { body: { price: 5 } }, "IssuerSilent", "not readable"],
    ["a signature that is none", { body: { signature: "x" } }, "IssuerSilent", "not readable"]
  ] as const) {
    it.live(`reports ${what}`, () =>
      Effect.gen(function* () {
        const isWhole = what === "a signature that is none"
        const failed = yield* Effect.flip(
          against(
            (one) => (isWhole ? { body: { ...honest(one, price), ...(answer.body as object) } } : answer),
            ({ signedQuote }) => signedQuote(sale)
          )
        )
        assert.strictEqual(failed._tag, tag)
        assert.include(failed.message, words)
      })
    )
  }

  it.live("is not asked about two tokens that are no stablecoin of Ondo's, or a chain without a manager", () =>
    Effect.gen(function* () {
      const other = asset("DAI", 18, "0x6B175474E89094C44Da98b954EedeAC495271d0F")
      for (const trade of [
        { ...purchase, sell: other },
        { ...purchase, buy: usdc },
        { ...purchase, sell: { ...usdc, chainId: 10 as ChainId } },
        { ...purchase, buy: { ...share, decimals: 8 } }
      ]) {
        const refusal = yield* Effect.flip(
          against(
            () => ({ body: {} }),
            ({ quote }) => quote(trade)
          )
        )
        assert.strictEqual(refusal._tag, "IssuerRefused")
      }
    })
  )

  it("no rounding costs more than the amount, nor brings more than the price", () => {
    for (const decimals of [6, 8, 18]) {
      for (let seed = 1n; seed < 2_000n; seed += 7n) {
        const amount = seed * seed * 1_234_567n + seed
        const at = seed * 77_777_777_777_777_777n + 3n
        const quantity = bought(amount, decimals, at)
        assert.isTrue(costOf(quantity, decimals, at) <= amount)
        assert.isTrue(broughtBy(quantity, decimals, at) <= costOf(quantity, decimals, at))
      }
    }
  })
})
