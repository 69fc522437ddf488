/**
 * How far a portfolio is from its target, in widths of the bands around it: 1 where the worst asset is at the edge of
 * its band.
 *
 * A relative band is not defined for an asset without a target: what it takes from the others shows there.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Span } from "#domain/monitor/edge.ts"
import type { HeldPosition } from "#domain/monitor/Facts.ts"
import { bps, shareOf, spanOfShare, sumOf } from "#domain/monitor/shares.ts"
import type { DriftBand, DriftBands } from "#domain/mandate/StrategyTriggers.ts"

interface Banded {
  readonly assetId: AssetId
  readonly planned: bigint
  /** Shares of the portfolio (wad). */
  readonly target: bigint
  readonly allowed: bigint
}

const allowedBy = ({ kind, width }: DriftBand, target: bigint): bigint =>
  (BigInt(width) * (kind === "absolute" ? Decimal.one : target)) / bps

const distance = (one: bigint, other: bigint): bigint => (one > other ? one - other : other - one)

const widths = (off: bigint, { allowed }: Banded): bigint => (off * Decimal.one) / allowed

const percent = (share: bigint): string => `${Decimal.format(share * 100n, 2)} %`

const bandedOf = (bands: DriftBands, positions: ReadonlyArray<HeldPosition>): ReadonlyArray<Banded> => {
  const overrides = new Map((bands.overrides ?? []).map(({ assetId, band }) => [assetId, band]))
  return positions.flatMap(({ assetId, plannedUsd: planned, targetBps }) => {
    const target = (BigInt(targetBps) * Decimal.one) / bps
    const allowed = allowedBy(overrides.get(assetId) ?? bands.band, target)
    return allowed === 0n ? [] : [{ assetId, planned, target, allowed }]
  })
}

/** The widths that an asset may be off while its share is within the span. */
const spanOfDrift = (banded: Banded, { min, max }: Span): Span => {
  const [low, high] = [min - 1n, max + 1n]
  const far = [low, high].map((share) => distance(share, banded.target)).reduce((a, b) => (a > b ? a : b))
  const near = [low, high].map((share) => distance(share, banded.target)).reduce((a, b) => (a < b ? a : b))
  const isInside = low <= banded.target && banded.target <= high
  return { min: isInside ? 0n : widths(near, banded), max: widths(far, banded) + 1n }
}

/** Undefined for a portfolio that holds nothing, which has no shares. */
export const measureDrift = (bands: DriftBands, positions: ReadonlyArray<HeldPosition>) => {
  const total = sumOf(positions, ({ plannedUsd }) => plannedUsd)
  if (total === 0n) return undefined
  const banded = bandedOf(bands, positions)
  const drifts = banded.map((one) => {
    const share = shareOf(one.planned, total - one.planned, Decimal.one)
    return { ...one, share, drift: widths(distance(share, one.target), one) }
  })
  const worst = drifts.reduce<(typeof drifts)[number] | undefined>(
    (max, one) => (max === undefined || one.drift > max.drift ? one : max),
    undefined
  )
  if (worst === undefined) return undefined
  return {
    value: worst.drift,
    text: `${worst.assetId} is ${percent(worst.share)} of the portfolio, its target ${percent(worst.target)} and its band ${percent(worst.allowed)} to either side`,
    span: (deltaBps: bigint): Span => {
      const spans = banded.map((one) =>
        spanOfDrift(one, spanOfShare(one.planned, total - one.planned, Decimal.one)(deltaBps))
      )
      return {
        min: spans.reduce((greatest, { min }) => (min > greatest ? min : greatest), 0n),
        max: spans.reduce((greatest, { max }) => (max > greatest ? max : greatest), 0n)
      }
    }
  }
}
