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
  /** The price (wad) with which the day began, and when that was (UNIX). */
  readonly anchor: { readonly price: bigint; readonly time: number }
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
/** A step is allowed for each day since the anchor, up to as many. */
const maxSteps = 5
const bps = 10_000n

const usd = (wad: bigint) => `${Decimal.format(wad, 6)} USD`

/** How far a price may be from the anchor at a time, in basis points. */
const allowedStepBps = ({ anchor, maxStepBps }: AttestedToken, now: number): number =>
  maxStepBps * Math.min(Math.floor(Math.max(0, now - anchor.time) / day) + 1, maxSteps)

/** Why the chain would refuse a price in a block of this time; undefined when it would take it. */
export const refusalOf = (token: AttestedToken, { price, time }: TimedPrice, now: number): PriceRefusal | undefined => {
  if (time > now) {
    return { code: RefusalCode.stale, reason: `the price is from ${time - now} s after the chain's last block` }
  }
  if (now - time > token.maxAge) {
    return { code: RefusalCode.stale, reason: `the price is ${now - time} s old, the chain takes ${token.maxAge} s` }
  }
  const { anchor } = token
  const difference = price > anchor.price ? price - anchor.price : anchor.price - price
  const allowed = allowedStepBps(token, now)
  if (difference * bps <= anchor.price * BigInt(allowed)) return undefined
  const moved = anchor.price === 0n ? "all" : `${(difference * bps) / anchor.price} basis points`
  return {
    code: RefusalCode.beyondStep,
    reason: `${usd(price)} is ${moved} from ${usd(anchor.price)}, with which the day began; the chain takes ${allowed}`
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
