/**
 * The multiplier of a Token-2022 mint: shown units of one raw unit. Dividends and splits of a share move it, and no
 * balance. Raw amounts stay raw wherever something is planned, traded or signed; the multiplier enters a value only, as
 * the price of a share is that of a shown unit.
 */
import * as Decimal from "#domain/values/Decimal.ts"

/** `current` is a wad; `next` takes its place at the second `nextFrom` of the chain's time. */
export interface Multiplier {
  readonly current: bigint
  readonly next: bigint
  readonly nextFrom: bigint
}

/** A mint without a multiplier shows its raw units. */
export const unscaled: Multiplier = { current: Decimal.one, next: Decimal.one, nextFrom: 0n }

/** The multiplier (wad) at a second of the chain's time. */
export const multiplierAt = ({ current, next, nextFrom }: Multiplier, second: bigint): bigint =>
  second >= nextFrom ? next : current

/** Raw units as they are shown to people, in the mint's decimals, cut. */
export const shownUnits = (raw: bigint, multiplier: bigint): bigint => (raw * multiplier) / Decimal.one

/**
 * US dollars (wad) of raw units, cut.
 *
 * @param multiplier wad
 * @param price US dollars (wad) of one whole shown unit
 */
export const valueUsd = (
  raw: bigint,
  { decimals, multiplier, price }: { readonly decimals: number; readonly multiplier: bigint; readonly price: bigint }
): bigint => (raw * multiplier * price) / (Decimal.one * 10n ** BigInt(decimals))
