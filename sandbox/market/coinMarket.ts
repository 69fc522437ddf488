/** CoinGecko's answers about the market of coins, in its documented shapes, from the world's prices. */
import { DateTime } from "effect"
import { type BookCoin, coinById, rankedCoins } from "#sandbox/market/coinBook.ts"
import type { PriceBook } from "#sandbox/assets/PriceBook.ts"

const hour = 3_600_000
const day = 24 * hour
/** The stand-in trades a fiftieth of each coin's market capitalisation a day. */
const turnover = 50

/** The prices of the world at a time of it (milliseconds). */
export interface PricesAt {
  readonly prices: PriceBook
  readonly now: number
}

const change = (coin: BookCoin, { now, prices }: PricesAt, span: number) => {
  const before = coin.priceAt(prices, now - span)
  return before === 0 ? 0 : ((coin.priceAt(prices, now) - before) / before) * 100
}

const row = (coin: BookCoin, { hasLine, rank }: { readonly rank: number; readonly hasLine: boolean }, at: PricesAt) => {
  const { now, prices } = at
  const price = coin.priceAt(prices, now)
  const cap = price * coin.supply
  return {
    id: coin.coinId,
    symbol: coin.symbol,
    name: coin.name,
    image: `https://coins.example/${coin.coinId}.png`,
    current_price: price,
    market_cap: cap,
    market_cap_rank: rank,
    fully_diluted_valuation: cap,
    total_volume: cap / turnover,
    high_24h: price,
    low_24h: price,
    price_change_percentage_24h: change(coin, at, day),
    circulating_supply: coin.supply,
    max_supply: null,
    last_updated: DateTime.formatIso(DateTime.makeUnsafe(now)),
    price_change_percentage_1h_in_currency: change(coin, at, hour),
    price_change_percentage_24h_in_currency: change(coin, at, day),
    price_change_percentage_7d_in_currency: change(coin, at, 7 * day),
    ...(hasLine
      ? {
          sparkline_in_7d: {
            price: Array.from({ length: 168 }, (_, n) => coin.priceAt(prices, now - (167 - n) * hour))
          }
        }
      : {})
  }
}

export interface MarketsQuery {
  readonly ids: ReadonlyArray<string> | undefined
  readonly page: number
  readonly perPage: number
  readonly sparkline: boolean
}

/** `GET /coins/markets`. */
export const coinMarkets = (query: MarketsQuery, prices: PriceBook, now: number) =>
  rankedCoins(prices, now)
    .map((coin, index) => ({ coin, rank: index + 1 }))
    .filter(({ coin }) => query.ids === undefined || query.ids.includes(coin.coinId))
    .slice((query.page - 1) * query.perPage, query.page * query.perPage)
    .map(({ coin, rank }) => row(coin, { rank, hasLine: query.sparkline }, { prices, now }))

const capOf = (coins: ReadonlyArray<BookCoin>, prices: PriceBook, at: number) =>
  coins.reduce((sum, coin) => sum + coin.supply * coin.priceAt(prices, at), 0)

/** `GET /global`. */
export const globalMarket = (prices: PriceBook, now: number) => {
  const coins = rankedCoins(prices, now)
  const cap = capOf(coins, prices, now)
  const share = (coinId: string) => (capOf([coinById(coinId)!], prices, now) / cap) * 100
  return {
    data: {
      active_cryptocurrencies: coins.length,
      markets: 1,
      total_market_cap: { usd: cap },
      total_volume: { usd: cap / turnover },
      market_cap_percentage: { btc: share("bitcoin"), eth: share("ethereum") },
      market_cap_change_percentage_24h_usd: (cap / capOf(coins, prices, now - day) - 1) * 100,
      updated_at: Math.floor(now / 1000)
    }
  }
}

const categories = [
  ["stablecoins", "Stablecoins", ["usd-coin", "tether", "dai"]],
  ["decentralized-finance-defi", "Decentralized Finance (DeFi)", ["aave", "uniswap", "curve-dao-token"]],
  ["layer-1", "Layer 1 (L1)", ["bitcoin", "ethereum", "solana"]],
  ["gaming", "Gaming (GameFi)", ["axie-infinity", "the-sandbox", "decentraland"]]
] as const

const coinsOf = (ids: ReadonlyArray<string>) => ids.map((id) => coinById(id)).filter((coin) => coin !== undefined)

/** `GET /coins/categories`. */
export const marketCategories = (prices: PriceBook, now: number) =>
  categories.map(([id, name, ids]) => {
    const cap = capOf(coinsOf(ids), prices, now)
    return {
      id,
      name,
      market_cap: cap,
      market_cap_change_24h: (cap / capOf(coinsOf(ids), prices, now - day) - 1) * 100,
      volume_24h: cap / turnover,
      content: "",
      top_3_coins: [],
      top_3_coins_id: ids,
      updated_at: DateTime.formatIso(DateTime.makeUnsafe(now))
    }
  })

/** `GET /coins/categories/list`. */
export const categoryList = categories.map(([id, name]) => ({ category_id: id, name }))

/** `GET /global/decentralized_finance_defi`: figures in strings, but for one. */
export const defiMarket = (prices: PriceBook, now: number) => {
  const cap = capOf(coinsOf(categories[1][2]), prices, now)
  const ether = capOf([coinById("ethereum")!], prices, now)
  return {
    data: {
      defi_market_cap: String(cap),
      eth_market_cap: String(ether),
      defi_to_eth_ratio: String((cap / ether) * 100),
      trading_volume_24h: String(cap / turnover),
      defi_dominance: String((cap / capOf(rankedCoins(prices, now), prices, now)) * 100),
      top_coin_name: "Aave",
      top_coin_defi_dominance: 10.5
    }
  }
}

/** `GET /search/trending`: up to 15 coins. */
export const trending = (prices: PriceBook, now: number) => ({
  coins: rankedCoins(prices, now)
    .toSorted((a, b) => change(b, { prices, now }, day) - change(a, { prices, now }, day))
    .slice(0, 15)
    .map((coin, score) => ({
      item: {
        id: coin.coinId,
        coin_id: score,
        name: coin.name,
        symbol: coin.symbol,
        market_cap_rank: rankedCoins(prices, now).findIndex(({ coinId }) => coinId === coin.coinId) + 1,
        thumb: "",
        small: "",
        large: `https://coins.example/${coin.coinId}.png`,
        slug: coin.coinId,
        price_btc: 0,
        score,
        data: {
          price: coin.priceAt(prices, now),
          market_cap: `$${Math.round(coin.priceAt(prices, now) * coin.supply)}`,
          price_change_percentage_24h: { usd: change(coin, { prices, now }, day) }
        }
      }
    })),
  nfts: [],
  categories: marketCategories(prices, now).map(
    ({ id, market_cap, market_cap_change_24h, name, top_3_coins_id }, n) => ({
      id: n + 1,
      name,
      slug: id,
      coins_count: String(top_3_coins_id.length),
      data: { market_cap, market_cap_change_percentage_24h: { usd: market_cap_change_24h } }
    })
  )
})

/** `GET /coins/{id}/ohlc`: half-hours of a day, four hours of a month, four days beyond. */
export const ohlc = (coin: BookCoin, days: number, { now, prices }: PricesAt) => {
  const step = days <= 2 ? hour / 2 : days <= 30 ? 4 * hour : 4 * day
  const count = Math.floor((days * day) / step)
  const last = Math.floor(now / step) * step
  return Array.from({ length: count }, (_, n) => {
    const at = last - (count - 1 - n) * step
    const [open, close] = [coin.priceAt(prices, at - step), coin.priceAt(prices, at)]
    return [at, open, Math.max(open, close), Math.min(open, close), close]
  })
}

/** `GET /news`: one article an hour, the older first, and one that leads nowhere safe. */
export const news = (count: number, now: number) =>
  Array.from({ length: count }, (_, n) => {
    const hours = count - n
    const at = now - (now % hour) - hours * hour
    return {
      title: `The market at ${DateTime.formatIso(DateTime.makeUnsafe(at))}`,
      url: n === 0 ? "http://news.example/plain" : `https://news.example/${at / hour}`,
      image: `https://news.example/${at / hour}.png`,
      author: n % 2 === 0 ? "A. Writer" : null,
      posted_at: DateTime.formatIso(DateTime.makeUnsafe(at)),
      type: "news",
      source_name: "Sandbox News",
      related_coin_ids: ["bitcoin", "ethereum"]
    }
  })
