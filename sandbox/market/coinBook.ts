/**
 * What every coin of the catalogue costs: the world's own by its price book, all others by a function of name and time.
 */
import { solanaChainId, spl } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { coinIds } from "#layers/catalogue/coinIds.ts"
import { content } from "#layers/catalogue/content.ts"
import { catalog, type Token } from "#sandbox/assets/catalog.ts"
import type { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { sharePrice } from "#sandbox/market/stockMarket.ts"

/** Coins that this world has as tokens of another name. */
export const wrappedAs: Readonly<Record<string, string>> = { ethereum: "weth", bitcoin: "coinbase-wrapped-btc" }

const worldTokens = catalog.flatMap((chain) => chain.tokens)
const tokenOf = (coinId: string): Token | undefined =>
  worldTokens.find((token) => token.coinId === (wrappedAs[coinId] ?? coinId))

const stablecoins = new Set(content.assets.filter(({ kind }) => kind === "stablecoin").map(({ symbol }) => symbol))

export interface BookCoin {
  readonly coinId: string
  readonly symbol: string
  readonly name: string
  /** US dollars at a moment (milliseconds). */
  readonly priceAt: (prices: PriceBook, at: number) => number
  /** Whole coins in circulation. */
  readonly supply: number
}

const fromWad = (wad: bigint) => Number(Decimal.format(wad, 18))

const worldPrice = (token: Token) => (prices: PriceBook, at: number) => {
  const points = prices.entries().find(([assetId]) => assetId === token.assetId)?.[1] ?? []
  return fromWad((points.findLast((point) => point.at <= at) ?? points[0])?.priceUsd ?? token.initialPriceUsd)
}

/** Whole coins, of those whose world tokens are a small part of them. */
const supplies: Readonly<Record<string, number>> = { bitcoin: 19_800_000, ethereum: 120_000_000 }

const catalogueCoins: ReadonlyArray<BookCoin> = Object.entries(coinIds).map(([symbol, coinId]) => {
  const name = content.assets.find((asset) => asset.symbol === symbol && asset.kind !== "equity")?.name ?? coinId
  const token = tokenOf(coinId)
  return {
    coinId,
    symbol: symbol.toLowerCase(),
    name,
    supply:
      supplies[coinId] ??
      (token === undefined ? 1_000_000 * (symbol.charCodeAt(0) + coinId.length) : Number(token.supply)),
    priceAt:
      token === undefined
        ? (_, at) => (stablecoins.has(symbol) ? 1 : sharePrice(coinId, Math.floor(at / 1000)) / 100)
        : worldPrice(token)
  }
})

const others: ReadonlyArray<BookCoin> = worldTokens
  .filter(({ coinId }, index) => {
    const isKnown = catalogueCoins.some((coin) => coin.coinId === coinId)
    return !isKnown && worldTokens.findIndex((token) => token.coinId === coinId) === index
  })
  .map((token) => ({
    coinId: token.coinId,
    symbol: token.symbol.toLowerCase(),
    name: token.name,
    supply: Number(token.supply),
    priceAt: worldPrice(token)
  }))

const coins = [...catalogueCoins, ...others]

export const coinById = (coinId: string): BookCoin | undefined => coins.find((coin) => coin.coinId === coinId)

/** All coins, the largest first. */
export const rankedCoins = (prices: PriceBook, now: number): ReadonlyArray<BookCoin> =>
  coins.toSorted((a, b) => b.supply * b.priceAt(prices, now) - a.supply * a.priceAt(prices, now))

/** US dollars of a token of the catalogue or of the world's Solana chain, by its address; undefined for all others. */
export const catalogueTokenPrice = (
  { address, chainId }: { readonly chainId: number; readonly address: string },
  prices: PriceBook,
  now: number
): number | undefined => {
  const own = chainId === solanaChainId ? splTokenOf(address) : undefined
  if (own !== undefined) return fromWad(prices.price(own.assetId))
  const isMeant =
    chainId === solanaChainId
      ? (id: string) => id === spl(address)
      : (id: string) => id.toLowerCase() === `eip155:${chainId}/erc20:${address.toLowerCase()}`
  const found = content.representations.find(({ caipAssetId }) => isMeant(caipAssetId))
  const subject = content.assets.find(({ assetCanonicalId }) => assetCanonicalId === found?.assetCanonicalId)
  if (subject === undefined) return undefined
  if (subject.kind === "equity" || subject.kind === "etf") return sharePrice(subject.symbol, Math.floor(now / 1000))
  const coinId = coinIds[subject.symbol]
  return coinId === undefined ? undefined : coinById(coinId)?.priceAt(prices, now)
}

/** CoinGecko's platforms of chains that only the catalogue has. */
export const otherPlatforms: ReadonlyArray<{ readonly id: string; readonly chainId: number; readonly name: string }> = [
  { id: "ethereum", chainId: 1, name: "Ethereum" },
  { id: "binance-smart-chain", chainId: 56, name: "BNB Smart Chain" },
  { id: "robinhood", chainId: 4663, name: "Robinhood Chain" },
  { id: "solana", chainId: solanaChainId, name: "Solana" }
]
