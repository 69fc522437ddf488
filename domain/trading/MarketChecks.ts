/**
 * Reads what the venues of each chain give for its listed tokens, so that a holding that nobody asked for is worth no
 * more than they pay (`unbackedValue`). No price of the token is needed: a false one is what it is held against.
 *
 * Tokens of issuers are left out, since those take them back, and so are the assets that others are paid in. A node on
 * which no token has a market, not even those assets, is no witness against any of them.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import type { Asset, AssetMarket } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { type JudgedToken, MarketCheckStore } from "#domain/asset/MarketCheckStore.ts"
import { addressOf, type AssetId, type ChainId, namespaceOfChain } from "#domain/values/Caip.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { Families } from "#domain/chain/Families.ts"
import { NativeAssets } from "#domain/chain/NativeAssets.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { isFresh, isPlausiblePrice, Prices } from "#domain/market/Prices.ts"
import { type Quote, type QuoteRequest, Venue } from "#domain/trading/Venue.ts"

const interval = Duration.minutes(1)
const readFor = Duration.minutes(15)
/** Tokens of one read. */
const batch = 50
/** Raw amounts of the sales that are quoted: a small one for the price, and one that empties a pool of any size. */
const amounts = Array.from({ length: 34 }, (_, exponent) => 10n ** BigInt(exponent))
/** What no pool really holds, and no token is really worth; US dollars (wad). */
const mostUsd = 10n ** 45n - 1n

/** An asset that others are sold for, and its price in US dollars (wad). */
interface Money extends Pick<Asset, "assetId" | "decimals"> {
  readonly priceUsd: bigint
}

interface Sold extends Pick<Asset, "assetId" | "decimals"> {}

interface ProbedSale {
  readonly token: Sold
  readonly money: Money
  readonly request: QuoteRequest
}

const salesOf = (tokens: ReadonlyArray<Sold>, moneys: ReadonlyArray<Money>): ReadonlyArray<ProbedSale> =>
  tokens.flatMap((token) =>
    moneys.flatMap((money) =>
      money.assetId === token.assetId
        ? []
        : amounts.map((sellAmountRaw) => ({
            token,
            money,
            request: { sell: token.assetId, buy: money.assetId, sellAmountRaw }
          }))
    )
  )

const atMost = (usd: bigint): bigint => (isPlausiblePrice(usd) || usd === 0n ? usd : mostUsd)
const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** What the sales of each token were quoted to yield, at their best. */
const marketsOf = (
  sales: ReadonlyArray<ProbedSale>,
  quotes: ReadonlyArray<Quote | null>
): ReadonlyMap<AssetId, AssetMarket> => {
  const found = new Map<AssetId, AssetMarket>()
  for (const [index, { money, request, token }] of sales.entries()) {
    const { depthUsd, priceUsd } = found.get(token.assetId) ?? { priceUsd: 0n, depthUsd: 0n }
    const paidUsd = Amount.valueUsd(quotes[index]?.buyAmountRaw ?? 0n, money.decimals, money.priceUsd)
    const eachUsd = (paidUsd * 10n ** BigInt(token.decimals)) / request.sellAmountRaw
    found.set(token.assetId, {
      priceUsd: greater(priceUsd, atMost(eachUsd)),
      depthUsd: greater(depthUsd, atMost(paidUsd))
    })
  }
  return found
}

/**
 * Reads what venues give for listed tokens.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `pass` in tests.
 */
export class MarketChecks extends Context.Service<
  MarketChecks,
  {
    /** Reads the market of every token that is due; a chain that does not answer is left to the next pass. */
    readonly pass: Effect.Effect<void>
  }
>()("ballast/domain/trading/MarketChecks") {
  static readonly layer = Layer.effect(
    MarketChecks,
    Effect.gen(function* () {
      const store = yield* MarketCheckStore
      const assets = yield* Assets
      const prices = yield* Prices
      const venue = yield* Venue
      const families = yield* Families
      const natives = yield* NativeAssets
      const { maxAgeMs } = yield* PriceSettings
      const { supported } = yield* Chains

      /** What tokens of the chain are sold for, as far as it has a price of now. */
      const moneyOn = Effect.fnUntraced(function* (chainId: ChainId) {
        const wanted = [usdcOn(chainId), natives.get(chainId)].flatMap((assetId) => assetId ?? [])
        const known = yield* assets.find(wanted)
        const latest = yield* prices.latest([...known.keys()])
        const staleBefore = (yield* DateTime.now).epochMilliseconds - maxAgeMs
        return [...known.values()].flatMap(({ assetId, decimals, isBlocked }): ReadonlyArray<Money> => {
          const price = latest.get(assetId)
          const counts = !isBlocked && price !== undefined && price.usd > 0n && isFresh(price, staleBefore)
          return counts ? [{ assetId, decimals, priceUsd: price.usd }] : []
        })
      })

      const checkSome = Effect.fnUntraced(function* (chainId: ChainId) {
        const now = yield* DateTime.now
        const readBefore = DateTime.subtractDuration(now, readFor)
        const due = yield* store.due({ chainId, readBefore, limit: batch })
        if (due.length === 0) return false
        const moneys = yield* moneyOn(chainId)
        if (moneys.length === 0) return false
        const isMoney = new Set(moneys.map(({ assetId }) => assetId))
        const held = due.filter(({ assetId, hasIssuer }) => !hasIssuer && !isMoney.has(assetId))
        const sales = salesOf([...held, ...moneys], moneys)
        const quotes = yield* venue.quote({
          chainId,
          connectorTokens: moneys.map(({ assetId }) => addressOf(assetId)),
          requests: sales.map(({ request }) => request),
          isMade: () => false
        })
        const markets = marketsOf(sales, quotes)
        if (held.length > 0 && [...markets.values()].every(({ depthUsd }) => depthUsd === 0n)) {
          yield* Effect.logWarning("No token has a market on the chain; the node is not believed", { chainId })
          return false
        }
        const isHeld = new Set(held.map(({ assetId }) => assetId))
        const judged = due.map(({ assetId, decimals }): JudgedToken => ({
          assetId,
          decimals,
          market: isHeld.has(assetId) ? (markets.get(assetId) ?? null) : null
        }))
        yield* store.record(now, judged)
        return due.length === batch
      })

      const check = (chainId: ChainId): Effect.Effect<void> =>
        checkSome(chainId).pipe(
          Effect.catchTag(["ChainUnavailable", "PricesUnavailable"], ({ message }) =>
            Effect.as(Effect.logWarning(`Markets of listed tokens could not be read: ${message}`), false)
          ),
          Effect.flatMap((goesOn) => (goesOn ? check(chainId) : Effect.void))
        )

      const answering = supported.filter((chainId) => families[namespaceOfChain(chainId)].quotesAllPools)
      return MarketChecks.of({
        pass: Effect.forEach(answering, check, { concurrency: "unbounded", discard: true }).pipe(
          Effect.withSpan("MarketChecks.pass")
        )
      })
    })
  )

  /** The fiber that checks for as long as the layer lives. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const { pass } = yield* MarketChecks
      yield* keepGoingEvery(pass, { complaint: "Markets of listed tokens could not be read", interval })
    })
  )
}
