/** Which coins of the largest thousand rose and fell most in a day. */
import * as Decimal from "#domain/values/Decimal.ts"
import type { CoinMarket } from "#domain/marketData/coinDatasets.ts"

/** How many coins are ranked: the largest by market capitalisation. */
const moversAmong = 1_000

/** US dollars of volume in a day below which a price means little. CoinGecko leaves out the same coins. */
const minVolume = 50_000n * Decimal.one

export interface Movers {
  readonly gainers: ReadonlyArray<CoinMarket>
  readonly losers: ReadonlyArray<CoinMarket>
}

interface Moved {
  readonly coin: CoinMarket
  readonly change: bigint
}

/**
 * Coins with a price, a change and some trade, at most `limit` each way, the strongest first; coins that stood still
 * are neither.
 */
export const topMovers = (coins: ReadonlyArray<CoinMarket>, limit: number): Movers => {
  const seen = new Map(coins.map((coin) => [coin.coinId, coin]))
  const moved = [...seen.values()].flatMap((coin): ReadonlyArray<Moved> => {
    const change = coin.priceChangePercentage24h === null ? undefined : Decimal.parse(coin.priceChangePercentage24h)
    const volume = coin.volume24hUsd === null ? undefined : Decimal.parse(coin.volume24hUsd)
    const isAmongLargest = coin.marketCapRank !== null && coin.marketCapRank <= moversAmong
    if (!isAmongLargest || coin.priceUsd === null || change === undefined || volume === undefined) return []
    return volume < minVolume ? [] : [{ coin, change }]
  })
  const byId = (a: Moved, b: Moved) => (a.coin.coinId < b.coin.coinId ? -1 : 1)
  const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
  const pick = (among: ReadonlyArray<Moved>) => among.slice(0, limit).map(({ coin }) => coin)
  return {
    gainers: pick(moved.filter(({ change }) => change > 0n).sort((a, b) => compare(b.change, a.change) || byId(a, b))),
    losers: pick(moved.filter(({ change }) => change < 0n).sort((a, b) => compare(a.change, b.change) || byId(a, b)))
  }
}
