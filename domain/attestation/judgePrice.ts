/**
 * What the attestor may sign and what the chain would accept of it. Pure; the same rule for the attestor, before it
 * signs, and for its caller, before an operation is built on the answer. Source: contracts/ReferencePrices.sol.
 */
import { Result } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { diverge, type Price } from "#domain/market/Prices.ts"
import { RefusalCode } from "#domain/attestation/PriceAttestor.ts"

/** The entry of the chain's registry for a token whose price is attested. */
export interface AttestedToken {
  /** Seconds after which a price is too old. */
  readonly maxAge: number
  /** Largest daily step, in basis points of the anchor. */
  readonly maxStepBps: number
  /** The prices (wad) with which the day before and the present one began, and when the present one did (UNIX). */
  readonly anchor: { readonly price: bigint; readonly next: bigint; readonly time: number }
}

/** A price (wad) and when the market showed it (UNIX). */
export interface TimedPrice {
  readonly price: bigint
  readonly time: number
}

export interface PriceRefusal {
  readonly code: RefusalCode
  readonly reason: string
}

const day = 86_400
const bps = 10_000n

const usd = (wad: bigint) => `${Decimal.format(wad, 6)} USD`

/** What a price is held against at a time; the first one of a new day against the one of the day that ends. */
const ruling = ({ anchor }: AttestedToken, now: number): bigint =>
  now - anchor.time >= day ? anchor.next : anchor.price

/** Why the chain would refuse a price in a block of this time; undefined when it would take it. */
export const refusalOf = (token: AttestedToken, { price, time }: TimedPrice, now: number): PriceRefusal | undefined => {
  if (time > now) {
    return { code: RefusalCode.stale, reason: `the price is from ${time - now} s after the chain's last block` }
  }
  if (now - time > token.maxAge) {
    return { code: RefusalCode.stale, reason: `the price is ${now - time} s old, the chain takes ${token.maxAge} s` }
  }
  const anchor = ruling(token, now)
  const difference = price > anchor ? price - anchor : anchor - price
  if (difference * bps <= anchor * BigInt(token.maxStepBps)) return undefined
  const moved = anchor === 0n ? "all" : `${(difference * bps) / anchor} basis points`
  return {
    code: RefusalCode.beyondStep,
    reason: `${usd(price)} is ${moved} from ${usd(anchor)} of the day before; the chain takes ${token.maxStepBps}`
  }
}

/** What two sources, each by its name, say of a token. */
export interface TwoSources {
  readonly first: { readonly name: string; readonly price: Price | undefined }
  readonly second: { readonly name: string; readonly usd: bigint | undefined }
  /** How far they may be apart, in basis points of the lower. */
  readonly toleranceBps: number
}

/** The price that both sources stand for; its time is the first one's, but no later than the asker's block. */
export const agreedPrice = (
  { first, second, toleranceBps }: TwoSources,
  notAfter: number
): Result.Result<TimedPrice, PriceRefusal> => {
  const refuse = (code: RefusalCode, reason: string) => Result.fail({ code, reason })
  if (first.price === undefined) return refuse(RefusalCode.sourceMissing, `${first.name} gives no price`)
  if (second.usd === undefined) {
    return refuse(RefusalCode.sourceMissing, `${second.name} gives no price to hold that of ${first.name} against`)
  }
  const price = first.price.usd
  if (diverge(price, second.usd, toleranceBps)) {
    const both = `${first.name} says ${usd(price)}, ${second.name} ${usd(second.usd)}`
    return refuse(RefusalCode.sourcesDisagree, `${both}: more than ${toleranceBps} basis points apart`)
  }
  const shown = Math.floor(first.price.asOf.epochMilliseconds / 1000)
  return Result.succeed({ price, time: Math.min(shown, notAfter) })
}
