/**
 * What the world's coins cost before the world began: made up, but the same in every world and on every asking, and
 * leading up to the price that the world begins with. From then on the price book knows.
 */
import { createHash } from "node:crypto"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import type { PricePoint } from "#sandbox/assets/PriceBook.ts"

const dayMillis = 86_400_000
const dayOf = (millis: number) => Math.floor(millis / dayMillis)

/** Most that a price moves in a day, in millionths; a stablecoin only wavers around its price. */
const stride = 30_000n
const waver = 1_500n
const millionths = 1_000_000n

/** A number from `-range` to `range` that belongs to a coin and a day. */
const drawn = ({ coinId }: Token, day: number, range: bigint): bigint =>
  (BigInt(createHash("sha256").update(`${coinId} ${day}`).digest().readUInt32BE()) % (2n * range + 1n)) - range

/** Prices (US dollars, wad) by day from `first` to `last`, on which the coin costs `priceUsd`. */
const walk = (
  token: Token,
  { first, last }: { readonly first: number; readonly last: number },
  priceUsd: bigint
): ReadonlyMap<number, bigint> => {
  const isStable = token.tags.includes("stablecoin")
  const prices = new Map([[last, priceUsd]])
  let price = priceUsd
  for (let day = last - 1; day >= first; day--) {
    if (isStable) prices.set(day, (priceUsd * (millionths + drawn(token, day, waver))) / millionths)
    else {
      price = (price * millionths) / (millionths + drawn(token, day + 1, stride))
      prices.set(day, price)
    }
  }
  return prices
}

export interface HistoryTask {
  readonly token: Token
  /** The token's points in the price book. */
  readonly points: ReadonlyArray<PricePoint>
  /** The world's times (milliseconds) that are asked for, in order. */
  readonly times: ReadonlyArray<number>
  /** Begin of this sandbox, as far as the book does not say. */
  readonly beginning: number
}

/** The price at each of the times. */
export const priceHistory = ({ beginning, points, times, token }: HistoryTask): ReadonlyArray<PricePoint> => {
  const [oldest] = points
  if (oldest === undefined || times.length === 0) return []
  // A coin whose price was never moved has one point, at zero.
  const known = Math.min(...points.map(({ at }) => (at > 0 ? at : beginning)))
  const last = dayOf(known)
  const before = walk(token, { first: Math.min(dayOf(times[0]!), last), last }, oldest.priceUsd)
  return times.map((at) => ({
    at,
    priceUsd:
      at < known
        ? (before.get(dayOf(at)) ?? oldest.priceUsd)
        : (points.findLast((point) => point.at <= at) ?? oldest).priceUsd
  }))
}

const hourMillis = 3_600_000
const fiveMinutes = 300_000

/** CoinGecko's points of the last `days` days: at round times, and one at the moment. */
export const chartTimes = (now: number, days: number, isDaily: boolean): ReadonlyArray<number> => {
  const step = isDaily || days > 90 ? dayMillis : days > 1 ? hourMillis : fiveMinutes
  const first = Math.ceil((now - days * dayMillis) / step)
  const last = Math.floor(now / step)
  const round = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
  return round.at(-1) === now ? round : [...round, now]
}

/** A figure as CoinGecko writes it. JSON numbers are all it has; nothing is computed with them here. */
export const jsonNumber = (wad: bigint): number => Number(Decimal.format(wad, 18))
