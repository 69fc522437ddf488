/** Rows of sources that cannot be read are counted, so that none of them passes for a token that is gone. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { CatalogueSourcesLive } from "#layers/catalogue/refresh/CatalogueSourcesLive.ts"
import { CatalogueSources } from "#layers/catalogue/refresh/SourceRead.ts"

const apple = "0x9d275685dC284C8eB1C79f6ABA7a63Dc75ec890a"
const lower = apple.toLowerCase()

/** Answers every path with its body, `/public/assets?page=1` with the second page. */
const serving = (bodies: Readonly<Record<string, unknown>>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<ReturnType<typeof createServer>>((resolve) => {
            const server = createServer((request, response) => {
              const body = bodies[request.url ?? ""]
              response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" })
              response.end(JSON.stringify(body ?? {}))
            })
            server.listen(0, "127.0.0.1", () => resolve(server))
          })
      ),
      (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

const sourcesAt = (base: string) =>
  Effect.provide(
    CatalogueSources,
    CatalogueSourcesLive({
      uniswapList: `${base}/list`,
      ondoList: `${base}/ondo`,
      coinbaseUrl: base,
      xStocksUrl: base
    })
  )
const asset = (deployments: ReadonlyArray<unknown>) => ({ symbol: "AAPLx", underlyingSymbol: "AAPL", deployments })
const page = (nodes: ReadonlyArray<unknown>, hasNextPage: boolean) => ({ nodes, page: { currentPage: 0, hasNextPage } })

it.live("xStocks: all pages, chains that we list alone, and every deployment that cannot be read counted", () =>
  Effect.gen(function* () {
    const base = yield* serving({
      "/public/assets?page=0": page([asset([{ network: "Ethereum", address: lower }])], true),
      "/public/assets?page=1": page(
        [
          asset([
            { network: "Mantle", address: "not of ours" },
            { network: "Solana", address: "0OIl" },
            { network: 7 }
          ]),
          { symbol: "" },
          asset([{ network: "BinanceSmartChain", address: lower }])
        ],
        false
      )
    })
    const { xstocks } = yield* sourcesAt(base)
    const { tokens, unreadable } = yield* xstocks
    assert.deepStrictEqual(
      tokens.map(({ address, chain, decimals, ticker }) => [chain, address, decimals, ticker]),
      [
        ["eip155:1", apple, null, "AAPL"],
        ["eip155:56", apple, null, "AAPL"]
      ]
    )
    assert.strictEqual(unreadable, 3)
  }).pipe(Effect.scoped)
)

it.live("xStocks: one page that is missing makes the whole registry unread", () =>
  Effect.gen(function* () {
    const base = yield* serving({ "/public/assets?page=0": page([asset([])], true) })
    const { reason } = yield* Effect.flip((yield* sourcesAt(base)).xstocks)
    assert.match(reason, /nothing at \/public\/assets/)
  }).pipe(Effect.scoped)
)

it.live("lists: rows of other chains are passed over whatever they hold, rows of ours that are wrong are counted", () =>
  Effect.gen(function* () {
    const row = { chainId: 1, address: lower, symbol: "AAPLon", name: "Apple", decimals: 18 }
    const base = yield* serving({
      "/ondo": {
        tokens: [
          row,
          { ...row, chainId: 250, decimals: -1 },
          { ...row, decimals: 99 },
          { ...row, address: "0x12" },
          "x"
        ]
      },
      "/v1/tokenized-stocks": {
        tokens: [
          { contract_address: lower, symbol: "TSLA", decimals: 8 },
          { contract_address: lower, symbol: "TSLAc", decimals: "8" },
          { contract_address: "0x12", symbol: "COINc" }
        ]
      }
    })
    const sources = yield* sourcesAt(base)
    const ondo = yield* sources.ondo
    assert.deepStrictEqual(ondo.tokens, [
      { chain: "eip155:1", address: apple, symbol: "AAPLon", decimals: 18, ticker: "AAPL" }
    ])
    assert.strictEqual(ondo.unreadable, 3)
    const coinbase = yield* sources.coinbase
    assert.deepStrictEqual(
      coinbase.tokens.map(({ decimals, symbol, ticker }) => [symbol, decimals, ticker]),
      [
        ["TSLAc", 8, "TSLA"],
        ["TSLAc", null, "TSLA"]
      ]
    )
    assert.strictEqual(coinbase.unreadable, 1)
    assert.match((yield* Effect.flip(sources.uniswap)).reason, /404/)
  }).pipe(Effect.scoped)
)
