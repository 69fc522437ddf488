/**
 * The figure of a trigger, and what it can be while prices stay close to what they are. Pure and exact: wad integers,
 * bounds rounded outwards.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { measureDrift } from "#domain/monitor/drift.ts"
import type { Span } from "#domain/monitor/edge.ts"
import type { Facts, HeldPosition } from "#domain/monitor/Facts.ts"
import { bps, percentOf, spanOfShare, spanOfValue, sumOf } from "#domain/monitor/shares.ts"
import type { Trigger } from "#domain/monitor/Trigger.ts"

export interface Measured {
  /** US dollars, percent, a count, or widths of a band (wad). */
  readonly value: bigint
  /** What it is, for people. */
  readonly text: string
  /** What it may be while each of `prices` stays within so many basis points of what it is. */
  readonly span: (deltaBps: bigint) => Span
  /** The prices that it follows from, US dollars (wad). */
  readonly prices: ReadonlyMap<AssetId, bigint>
  /** The figure is the one price itself, so that the level of the trigger is a level of that price. */
  readonly isPrice: boolean
}

const still = (value: bigint) => (): Span => ({ min: value, max: value })

const usd = (value: bigint): string => `${Decimal.format(value, 2)} USD`
const percent = (value: bigint): string => `${Decimal.format(value, 2)} %`

const pricesOf = (positions: ReadonlyArray<HeldPosition>): ReadonlyMap<AssetId, bigint> =>
  new Map(positions.flatMap(({ assetId, priceUsd }) => (priceUsd === null ? [] : [[assetId, priceUsd] as const])))

/** A sum of values, which moves as they do. */
const measureValue = (
  text: string,
  positions: ReadonlyArray<HeldPosition>,
  valueOf: (position: HeldPosition) => bigint
): Measured => {
  const value = sumOf(positions, valueOf)
  return {
    value,
    text: `${text} ${usd(value)}`,
    span: spanOfValue(value),
    prices: pricesOf(positions.filter((position) => valueOf(position) > 0n)),
    isPrice: false
  }
}

/** The share of some positions in all; nothing of nothing is no share. */
const measureShare = (
  text: string,
  positions: ReadonlyArray<HeldPosition>,
  counts: (position: HeldPosition) => boolean
): Measured => {
  const part = sumOf(positions.filter(counts), ({ valueUsd }) => valueUsd)
  const rest = sumOf(positions, ({ valueUsd }) => valueUsd) - part
  const value = percentOf(part, rest)
  return {
    value,
    text: `${text} ${percent(value)}`,
    span: spanOfShare(part, rest),
    prices: pricesOf(positions.filter(({ valueUsd }) => valueUsd > 0n)),
    isPrice: false
  }
}

const measureConcentration = (positions: ReadonlyArray<HeldPosition>): Measured | undefined => {
  const shares = positions.map(({ assetId }) =>
    measureShare(`the largest position, ${assetId}, is`, positions, (position) => position.assetId === assetId)
  )
  const largest = shares.reduce<Measured | undefined>(
    (max, share) => (max === undefined || share.value > max.value ? share : max),
    undefined
  )
  if (largest === undefined) return undefined
  return {
    ...largest,
    span: (delta) => {
      const spans = shares.map(({ span }) => span(delta))
      return {
        min: spans.reduce((max, { min }) => (min > max ? min : max), 0n),
        max: spans.reduce((highest, { max }) => (max > highest ? max : highest), 0n)
      }
    }
  }
}

const measurePrice = (assetId: AssetId, value: bigint): Measured => ({
  value,
  text: `the price of ${assetId} is ${usd(value)}`,
  span: spanOfValue(value),
  prices: new Map([[assetId, value]]),
  isPrice: true
})

/** Computes by how much one price is above another, in percent. */
const change = (before: bigint, now: bigint): bigint => ((now - before) * 100n * Decimal.one) / before

type Candles = Extract<Trigger, { readonly kind: "market_candles" }>

const measureCandles = (facts: Facts, { assetId, windowDays, windowHours }: Candles): Measured | undefined => {
  if (windowDays !== undefined) return measureDays(facts, assetId, windowDays)
  if (windowHours === undefined) return undefined
  const found = facts.candleChange(assetId, windowHours)
  if (found === undefined) return undefined
  const value = change(found.before, found.now)
  const text = `the price of ${assetId} changed by ${percent(value)} in ${windowHours} hours of candles`
  return { value, text, span: still(value), prices: new Map(), isPrice: false }
}

const measureDays = ({ history, today }: Facts, assetId: AssetId, windowDays: number): Measured | undefined => {
  const recorded = history.get(assetId)
  const last = recorded?.get(today) === undefined ? Day.add(today, -1) : today
  const now = recorded?.get(last)
  const before = recorded?.get(Day.add(last, -windowDays))
  if (now === undefined || before === undefined || before === 0n) return undefined
  const value = change(before, now)
  return {
    value,
    text: `the daily price of ${assetId} changed by ${percent(value)} in ${windowDays} days`,
    span: still(value),
    prices: new Map(),
    isPrice: false
  }
}

const measurePerformance = (
  { history, positions, today }: Facts,
  assetId: AssetId,
  windowDays: number
): Measured | undefined => {
  const held = heldIn(positions, assetId)
  const before = history.get(assetId)?.get(Day.add(today, -windowDays))
  if (held?.priceUsd == null || before === undefined || before === 0n) return undefined
  const now = held.priceUsd
  const value = change(before, now)
  return {
    value,
    text: `the price of ${assetId} changed by ${percent(value)} in ${windowDays} days`,
    span: (delta) => ({
      min: change(before, (now * (bps - delta)) / bps) - 1n,
      max: change(before, (now * (bps + delta)) / bps + 1n) + 1n
    }),
    prices: new Map([[assetId, now]]),
    isPrice: false
  }
}

/** Undefined for an asset that is not held: it has no figure. */
const heldIn = (positions: Facts["positions"], assetId: AssetId): HeldPosition | undefined =>
  positions?.find((position) => position.assetId === assetId && position.valueUsd > 0n)

const measureHeld = (
  positions: ReadonlyArray<HeldPosition>,
  { assetId, metric }: Extract<Trigger, { readonly kind: "portfolio_held_asset_metrics" }>
): Measured | undefined => {
  const held = heldIn(positions, assetId)
  if (held?.priceUsd == null) return undefined
  switch (metric) {
    case "price_usd":
      return measurePrice(assetId, held.priceUsd)
    case "value_usd":
      return measureValue(`${assetId} is worth`, [held], ({ valueUsd }) => valueUsd)
    case "weight_pct":
      return measureShare(`${assetId} is`, positions, (position) => position.assetId === assetId)
  }
}

/** Undefined where it is not known, or there is nothing to measure: a trigger then waits for the next check. */
export const measure = (trigger: Trigger, facts: Facts): Measured | undefined => {
  const { pendingApprovals, positions, prices } = facts
  switch (trigger.kind) {
    case "market_price": {
      const price = prices.get(trigger.assetId)
      return price === undefined ? undefined : measurePrice(trigger.assetId, price)
    }
    case "market_candles":
      return measureCandles(facts, trigger)
    case "approval_pending_count": {
      const value = BigInt(pendingApprovals) * Decimal.one
      const text = `${pendingApprovals} approvals are pending`
      return { value, text, span: still(value), prices: new Map(), isPrice: false }
    }
    case "portfolio_held_asset_performance":
      return measurePerformance(facts, trigger.assetId, trigger.windowDays)
    case "portfolio_held_asset_accounting_metrics":
      return undefined
    default:
      return positions === undefined ? undefined : measurePortfolio(trigger, positions)
  }
}

type OfPortfolio = Extract<
  Trigger,
  {
    readonly kind:
      | "account_buying_power_usd"
      | "account_cash_usd"
      | "portfolio_nav_usd"
      | "portfolio_cash_pct"
      | "portfolio_drift_from_target"
      | "portfolio_concentration"
      | "portfolio_held_asset_metrics"
  }
>

const measurePortfolio = (trigger: OfPortfolio, positions: ReadonlyArray<HeldPosition>): Measured | undefined => {
  const cash = positions.filter(({ isCash }) => isCash)
  switch (trigger.kind) {
    case "account_buying_power_usd":
      return measureValue("buying power is", cash, ({ freeUsd }) => freeUsd)
    case "account_cash_usd":
      return measureValue("cash is", cash, ({ valueUsd }) => valueUsd)
    case "portfolio_nav_usd":
      return measureValue("the portfolio is worth", positions, ({ valueUsd }) => valueUsd)
    case "portfolio_cash_pct":
      return measureShare("cash is", positions, ({ isCash }) => isCash)
    case "portfolio_concentration":
      return measureConcentration(positions)
    case "portfolio_held_asset_metrics":
      return measureHeld(positions, trigger)
    case "portfolio_drift_from_target": {
      const drift = measureDrift(trigger.bands, positions)
      return drift === undefined ? undefined : { ...drift, prices: pricesOf(positions), isPrice: false }
    }
  }
}
