/**
 * The registry of xStocks in its documented shapes, under `/xstocks/api/v2`: the tokens of the catalogue, a few a page.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { content } from "#layers/catalogue/content.ts"
import { keyPartsOf } from "#domain/listing/AssetKey.ts"
import { networks } from "#layers/market/issuers/XStocks.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const base = "/xstocks/api/v2/public/assets"
/** Fewer than the hundred of the real one, so that there is more than one page. */
const perPage = 6
const day = 86_400

const problem = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ message }, { status })
const answers = { error: problem(500, "Internal Server Error"), rateLimited: problem(429, "Too Many Requests") }

const networkOf = new Map([...networks].map(([network, chainId]) => [chainId, network]))
const subjects = new Map(content.assets.map((asset) => [asset.assetCanonicalId, asset]))

const registry = [
  ...Map.groupBy(
    content.representations.filter(({ issuer }) => issuer === "xstocks"),
    ({ symbol }) => symbol
  )
]
  .map(([symbol, tokens]) => {
    const { name, symbol: ticker } = subjects.get(tokens[0]!.assetCanonicalId)!
    return {
      id: `asset-${symbol}`,
      name: `${name} xStock`,
      symbol,
      isin: null,
      underlyingSymbol: ticker,
      underlyingIsin: null,
      description: "",
      logo: `https://tokens.example/${symbol}.png`,
      // One is halted, so that halts can be seen.
      isTradingHalted: symbol === "MSTRx",
      deployments: tokens.map(({ caipAssetId }) => {
        const { address, chainId } = keyPartsOf(caipAssetId)
        return { address, network: networkOf.get(chainId)!, supportsAtomicSwaps: false }
      })
    }
  })
  .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))

/** Apple's was split, and Tesla's will be in a day. */
const multiplierOf = (symbol: string, seconds: number) => ({
  currentMultiplier: symbol === "AAPLx" ? 1.5 : 1,
  newMultiplier: symbol === "TSLAx" ? 3 : symbol === "AAPLx" ? 1.5 : 1,
  activationDateTime: symbol === "TSLAx" ? seconds - (seconds % day) + day : 0,
  reason: symbol === "TSLAx" ? "split" : null
})

/** `GET .../public/assets?page=N`, `/{symbol}` and `/{symbol}/multiplier`. */
export const xstocks = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const faults = yield* Faults
    const clock = yield* WorldClock

    const get = <R>(path: "" | `/${string}`, answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
      router.add(
        "GET",
        `${base}${path}`,
        Effect.flatMap(faults.take("issuers"), (mode) => withFaults(mode, answers, answer))
      )
    const ofSymbol = (body: (asset: (typeof registry)[number], seconds: number) => object) =>
      Effect.gen(function* () {
        const { symbol } = yield* HttpRouter.params
        const asset = registry.find((row) => row.symbol === symbol)
        const { now } = yield* clock.read
        return asset === undefined
          ? problem(404, "Asset not found")
          : HttpServerResponse.jsonUnsafe(body(asset, Math.floor(now / 1000)))
      })

    yield* get(
      "",
      Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
        const currentPage = Number(new URL(url, "http://sandbox").searchParams.get("page") ?? 0)
        const end = (currentPage + 1) * perPage
        return HttpServerResponse.jsonUnsafe({
          nodes: registry.slice(currentPage * perPage, end),
          page: { currentPage, hasNextPage: end < registry.length }
        })
      })
    )
    yield* get(
      "/:symbol",
      ofSymbol((asset) => asset)
    )
    yield* get(
      "/:symbol/multiplier",
      ofSymbol(({ symbol }, seconds) => multiplierOf(symbol, seconds))
    )
  })
)
