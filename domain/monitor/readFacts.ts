/**
 * Reads what the triggers of a batch of monitors are measured on: portfolios by the same reading as plans, prices and
 * histories once for all. What could not be read is not known: nothing fires on it.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import { type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { mayTradeOn, Prices } from "#domain/market/Prices.ts"
import { CandleChanges } from "#domain/monitor/CandleChanges.ts"
import type { Facts, HeldPosition } from "#domain/monitor/Facts.ts"
import { MonitorStore } from "#domain/monitor/MonitorStore.ts"
import type { Trigger } from "#domain/monitor/Trigger.ts"
import type { Holding } from "#domain/planning/Plan.ts"
import { PlanReader, type PlanReading } from "#domain/rebalance/plan/PlanReader.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"

/** A chain that has not answered by then is not waited for. */
const timeout = Duration.seconds(3)

/** What is to be measured, of whose portfolio. */
export interface Question {
  readonly portfolioId: PortfolioId
  readonly trigger: Trigger
}

const needsPortfolio = ({ kind }: Trigger): boolean => kind.startsWith("portfolio_") || kind.startsWith("account_")

const windowOf = (trigger: Trigger): { readonly assetId: AssetId; readonly days: number } | undefined =>
  (trigger.kind === "market_candles" || trigger.kind === "portfolio_held_asset_performance") &&
  trigger.windowDays !== undefined
    ? { assetId: trigger.assetId, days: trigger.windowDays }
    : undefined

/**
 * Null when a price that counts is missing or may not be traded on, or a balance is not known. What no market backs is
 * worth nothing.
 */
const positionOf = (
  { assetId, balanceRaw, decimals, incomingRaw = 0n, priceIsStale, priceUsd, unbacked }: Holding,
  wholeRaw: bigint | null | undefined,
  targetBps: number
): HeldPosition | null => {
  if (wholeRaw === null || wholeRaw === undefined) return null
  const isPriced = priceUsd !== null && priceUsd > 0n && !priceIsStale
  if (!isPriced && unbacked === undefined && wholeRaw + incomingRaw > 0n) return null
  const value = (raw: bigint) => (isPriced ? Amount.valueUsd(raw, decimals, priceUsd) : 0n)
  return {
    assetId,
    priceUsd: isPriced ? priceUsd : null,
    valueUsd: value(wholeRaw + incomingRaw),
    plannedUsd: value(balanceRaw + incomingRaw),
    freeUsd: value(balanceRaw),
    targetBps,
    isCash: usdcOn(chainIdOf(assetId)) === assetId
  }
}

/** Undefined unless the whole portfolio is known. */
const positionsOf = ({ accounts, context, input }: PlanReading): ReadonlyArray<HeldPosition> | undefined => {
  if (input.chains.some(({ available }) => !available)) return undefined
  const targets = new Map(context.allocation.map(({ assetId, weight }) => [assetId, weight]))
  const whole = new Map(accounts.flatMap(({ balances }) => [...balances]))
  const holdings = input.chains.flatMap((chain) => chain.holdings)
  const positions = holdings.map((holding) =>
    positionOf(holding, whole.get(holding.assetId), targets.get(holding.assetId) ?? 0)
  )
  return positions.every((position) => position !== null) ? positions : undefined
}

/** What is known for each question, once for all of a batch. Fails for no outside reason. */
export const makeReadFacts = Effect.gen(function* () {
  const store = yield* MonitorStore
  const plans = yield* PlanReader
  const prices = yield* Prices
  const daily = yield* DailyPriceStore
  const { maxAgeMs } = yield* PriceSettings
  const candles = yield* CandleChanges

  const readPositions = Effect.fnUntraced(function* (portfolioIds: ReadonlyArray<PortfolioId>) {
    if (portfolioIds.length === 0) return new Map<PortfolioId, ReadonlyArray<HeldPosition> | undefined>()
    const readings = yield* plans.read(yield* store.contexts(portfolioIds), { timeout })
    return new Map(readings.map((reading) => [reading.context.portfolioId, positionsOf(reading)] as const))
  })

  const readPrices = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>, now: DateTime.Utc) {
    if (assetIds.length === 0) return new Map<AssetId, bigint>()
    const latest = Option.getOrUndefined(yield* Effect.option(prices.latest(assetIds)))
    const staleBefore = now.epochMilliseconds - maxAgeMs
    return new Map(
      [...(latest ?? [])].flatMap(([assetId, price]) =>
        mayTradeOn(price, staleBefore) && price.usd > 0n ? [[assetId, price.usd] as const] : []
      )
    )
  })

  return Effect.fn("readFacts")(function* (questions: ReadonlyArray<Question>) {
    const now = yield* DateTime.now
    const today = Day.of(now)
    const idsOf = (counts: (trigger: Trigger) => boolean) => [
      ...new Set(questions.flatMap(({ portfolioId, trigger }) => (counts(trigger) ? [portfolioId] : [])))
    ]
    const windows = questions.flatMap(({ trigger }) => windowOf(trigger) ?? [])
    const longest = windows.reduce((most, { days }) => Math.max(most, days), 0)
    const marketAssets = questions.flatMap(({ trigger }) => (trigger.kind === "market_price" ? [trigger.assetId] : []))
    const withApprovals = idsOf(({ kind }) => kind === "approval_pending_count")
    const [positions, known, history, approvals] = yield* Effect.all(
      [
        readPositions(idsOf(needsPortfolio)),
        readPrices([...new Set(marketAssets)], now),
        windows.length === 0
          ? Effect.succeed(new Map())
          : daily.read([...new Set(windows.map(({ assetId }) => assetId))], Day.add(today, -longest - 1)),
        withApprovals.length === 0
          ? Effect.succeed(new Map<PortfolioId, number>())
          : store.pendingApprovals(withApprovals)
      ],
      { concurrency: "unbounded" }
    )
    return ({ portfolioId, trigger }: Question): Facts => ({
      isOpen: !needsPortfolio(trigger) || positions.has(portfolioId),
      positions: positions.get(portfolioId),
      prices: known,
      history,
      today,
      candleChange: (assetId, windowHours) => candles(assetId, windowHours, now.epochMilliseconds),
      pendingApprovals: approvals.get(portfolioId) ?? 0
    })
  })
})
