/**
 * Requests to the public API of xStocks, the issuer's registry of its tokens. Source:
 * `https://api.xstocks.fi/api/v2/public`; it needs no key, and a list comes in pages of 100 that are counted from zero.
 */
import { Duration, Effect, Option, Schema } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { normalizeKey } from "#domain/listing/AssetKey.ts"
import { MarketDataUnavailable } from "#domain/marketData/Dataset.ts"
import { type AnswerSchema, makeFind, type Question } from "#layers/provider/makeFind.ts"

const Maybe = Schema.optionalKey(Schema.Unknown)

export const XStock = Schema.Struct({
  symbol: Schema.NonEmptyString,
  underlyingSymbol: Maybe,
  isin: Maybe,
  logo: Maybe,
  isTradingHalted: Maybe,
  deployments: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(100))
})

const Page = Schema.Struct({
  nodes: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(1_000)),
  page: Schema.Struct({ hasNextPage: Schema.Boolean })
})

export const Multiplier = Schema.Struct({
  currentMultiplier: Schema.Finite,
  newMultiplier: Maybe,
  /** UNIX seconds from when on the new one counts; zero when there is none. */
  activationDateTime: Maybe
})

/** Far more pages than the registry has; without a bound an answer that always names a next page would never end. */
const maxPages = 100

/** The chains that we list, by the registry's names. */
export const networks: ReadonlyMap<string, number> = new Map([
  ["Ethereum", 1],
  ["BinanceSmartChain", 56],
  ["Base", 8453],
  ["Arbitrum", 42161],
  ["Solana", solanaChainId]
])

const isDeployment = Schema.is(Schema.Struct({ network: Schema.String, address: Schema.String }))

/** Where a token is, by the ids that we list it under; other chains, and what is no address, are passed over. */
export const deploymentsOf = ({ deployments }: typeof XStock.Type): ReadonlyArray<string> =>
  deployments.filter(isDeployment).flatMap(({ address, network }) => {
    const key = normalizeKey(`${address}:${networks.get(network) ?? ""}`)
    return key === undefined ? [] : [key]
  })

/** Deployments that may be one of ours, and have no network or no address that can be read. */
export const unreadableDeployments = ({ deployments }: typeof XStock.Type): number =>
  deployments.filter(
    (deployment) =>
      !isDeployment(deployment) ||
      (networks.has(deployment.network) &&
        normalizeKey(`${deployment.address}:${networks.get(deployment.network)}`) === undefined)
  ).length

export const makeXStocks = Effect.fnUntraced(function* (baseUrl: string) {
  const find = yield* makeFind({
    name: "The registry of xStocks",
    refusedKey: "it needs no key: check XSTOCKS_URL",
    baseUrl,
    headers: {},
    concurrentRequests: 2,
    answerLimit: Duration.seconds(8),
    retryPause: Duration.millis(250),
    maxBytes: 4 * 1024 * 1024,
    longestPause: Duration.minutes(5),
    pauseHeaders: ["retry-after"],
    transientStatuses: []
  })

  const get = <S extends AnswerSchema>(question: Question<S>) =>
    find(question).pipe(
      Effect.mapError(({ reason }) => new MarketDataUnavailable({ reason })),
      Effect.flatMap(
        Option.match({
          onNone: () =>
            Effect.fail(
              new MarketDataUnavailable({ reason: `The registry of xStocks has nothing at ${question.path}` })
            ),
          onSome: Effect.succeed
        })
      )
    )
  const of = (symbol: string) => `/public/assets/${encodeURIComponent(symbol)}`

  /** All rows of the registry, not decoded: all of its pages, or a failure. */
  const all = Effect.gen(function* () {
    const rows: Array<unknown> = []
    for (let number = 0; number < maxPages; number += 1) {
      const { nodes, page } = yield* get({ path: "/public/assets", params: { page: String(number) }, schema: Page })
      rows.push(...nodes)
      if (!page.hasNextPage) return rows
    }
    return yield* new MarketDataUnavailable({ reason: `The registry of xStocks has more than ${maxPages} pages` })
  })

  return {
    all,
    asset: (symbol: string) => get({ path: of(symbol), schema: XStock }),
    multiplier: (symbol: string, network: string) =>
      get({ path: `${of(symbol)}/multiplier`, params: { network }, schema: Multiplier })
  }
})
