/**
 * Figures of triggers against an oracle of its own: plain fractions over whole numbers, without spans, shares or
 * rounding of ours. And what a price range promises: while prices stay within it, nothing changes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type AssetId, erc20, type ChainId, type EvmAddress } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { judge } from "#domain/monitor/edge.ts"
import type { Facts, HeldPosition } from "#domain/monitor/Facts.ts"
import { measure } from "#domain/monitor/measure.ts"
import { priceWatches } from "#domain/monitor/priceWatch.ts"
import { EvaluatedKind, levelOf, type Trigger } from "#domain/monitor/Trigger.ts"
import "#test/support/suite/properties.ts"

const assets: ReadonlyArray<AssetId> = [1, 2, 3, 4].map((n) =>
  erc20(8453 as ChainId, `0x${String(n).padStart(40, "0")}` as EvmAddress)
)
const today = Day.parse("2026-03-01")!

/** A token amount in whole tokens, and what one costs in cents. */
interface Holding {
  readonly tokens: bigint
  readonly cents: bigint
  readonly reserved: bigint
}

const holding = fc.record({
  tokens: fc.bigInt(0n, 1_000_000n),
  cents: fc.bigInt(1n, 10_000_000n),
  reserved: fc.bigInt(0n, 1_000n)
})
const holdings = fc.array(holding, { minLength: 4, maxLength: 4 })
/** Targets that sum to the whole portfolio. */
const targets = fc
  .tuple(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 3_000 }))
  .map(([a, b, c]) => [a, b, c, 10_000 - a - b - c])

const centsToWad = (cents: bigint) => cents * 10n ** 16n

const factsOf = (held: ReadonlyArray<Holding>, weights: ReadonlyArray<number>, history: Facts["history"]): Facts => {
  const positions = held.map(({ cents, reserved, tokens }, index): HeldPosition => {
    const free = tokens > reserved ? tokens - reserved : 0n
    return {
      assetId: assets[index]!,
      priceUsd: centsToWad(cents),
      valueUsd: centsToWad(tokens * cents),
      plannedUsd: centsToWad(free * cents),
      freeUsd: centsToWad(free * cents),
      targetBps: weights[index]!,
      isCash: index === 0
    }
  })
  return {
    isOpen: true,
    positions,
    prices: new Map(held.map(({ cents }, index) => [assets[index]!, centsToWad(cents)])),
    history,
    today,
    candleChange: () => undefined,
    pendingApprovals: 3
  }
}

const noHistory: Facts["history"] = new Map()
const level = { comparison: "above" as const, threshold: 0n, hysteresis: 0n }

/** A figure as a fraction, by the oracle; undefined where there is none. */
type Fraction = readonly [numerator: bigint, denominator: bigint] | undefined

const sum = (numbers: ReadonlyArray<bigint>) => numbers.reduce((all, one) => all + one, 0n)
const worth = ({ cents, tokens }: Holding) => tokens * cents
const freeOf = ({ cents, reserved, tokens }: Holding) => (tokens > reserved ? tokens - reserved : 0n) * cents

const oracle = (trigger: Trigger, held: ReadonlyArray<Holding>, weights: ReadonlyArray<number>): Fraction => {
  const total = sum(held.map(worth))
  switch (trigger.kind) {
    case "market_price":
      return [held[assets.indexOf(trigger.assetId)]!.cents, 100n]
    case "approval_pending_count":
      return [3n, 1n]
    case "account_buying_power_usd":
      return [freeOf(held[0]!), 100n]
    case "account_cash_usd":
      return [worth(held[0]!), 100n]
    case "portfolio_nav_usd":
      return [total, 100n]
    case "portfolio_cash_pct":
      return total === 0n ? [0n, 1n] : [worth(held[0]!) * 100n, total]
    case "portfolio_concentration":
      return total === 0n ? [0n, 1n] : [held.map(worth).reduce((a, b) => (a > b ? a : b)) * 100n, total]
    case "portfolio_held_asset_metrics": {
      const one = held[assets.indexOf(trigger.assetId)]!
      if (worth(one) === 0n) return undefined
      if (trigger.metric === "price_usd") return [one.cents, 100n]
      return trigger.metric === "value_usd" ? [worth(one), 100n] : [worth(one) * 100n, total]
    }
    case "portfolio_drift_from_target": {
      const planned = held.map(freeOf)
      const all = sum(planned)
      if (all === 0n) return undefined
      const { kind, width } = trigger.bands.band
      const drifts = planned.flatMap((value, index): ReadonlyArray<readonly [bigint, bigint]> => {
        const weight = BigInt(weights[index]!)
        if (kind === "relative" && weight === 0n) return []
        const off = value * 10_000n - weight * all
        const allowed = kind === "absolute" ? BigInt(width) * all * 10_000n : BigInt(width) * weight * all
        return [[(off < 0n ? -off : off) * 10_000n, allowed]]
      })
      return drifts.reduce<Fraction>(
        (worst, one) => (worst === undefined || one[0] * worst[1] > worst[0] * one[1] ? one : worst),
        undefined
      )
    }
    default:
      return undefined
  }
}

/** Asserts equality within what four divisions can cut off, of a figure as large as widths of a narrow band make it. */
const assertClose = (value: bigint, [numerator, denominator]: NonNullable<Fraction>) => {
  const exact = (numerator * Decimal.one) / denominator
  const off = value > exact ? value - exact : exact - value
  assert.isTrue(off <= 100_000n, `${value} for ${exact}`)
}

const drift = (kind: "absolute" | "relative", width: number): Trigger => ({
  kind: "portfolio_drift_from_target",
  bands: { band: { kind, width } }
})

const triggers: ReadonlyArray<Trigger> = [
  { kind: "market_price", assetId: assets[1]!, ...level },
  { kind: "approval_pending_count", ...level },
  { kind: "account_buying_power_usd", ...level },
  { kind: "account_cash_usd", ...level },
  { kind: "portfolio_nav_usd", ...level },
  { kind: "portfolio_cash_pct", ...level },
  { kind: "portfolio_concentration", ...level },
  { kind: "portfolio_held_asset_metrics", assetId: assets[2]!, metric: "price_usd", ...level },
  { kind: "portfolio_held_asset_metrics", assetId: assets[2]!, metric: "value_usd", ...level },
  { kind: "portfolio_held_asset_metrics", assetId: assets[2]!, metric: "weight_pct", ...level },
  drift("absolute", 500),
  drift("relative", 1_000)
]

const past: Facts["history"] = new Map([
  [
    assets[1]!,
    new Map([
      [Day.add(today, -31), 40n * Decimal.one],
      [Day.add(today, -30), 80n * Decimal.one],
      [Day.add(today, -1), 50n * Decimal.one]
    ])
  ]
])

const windowed = (kind: "market_candles" | "portfolio_held_asset_performance", assetId: AssetId): Trigger => ({
  kind,
  assetId,
  windowDays: 30,
  ...level
})

const held = [1n, 2n, 3n, 4n].map((tokens): Holding => ({ tokens, cents: 10_000n, reserved: 0n }))
const even = [2_500, 2_500, 2_500, 2_500]

describe("figures of triggers", () => {
  for (const trigger of triggers) {
    const metric = "metric" in trigger ? ` ${trigger.metric}` : ""
    const band = "bands" in trigger ? ` ${trigger.bands.band.kind}` : ""
    const name = `${trigger.kind}${metric}${band}`

    it(`${name} is what plain fractions say`, () =>
      fc.assert(
        fc.property(holdings, targets, (all, weights) => {
          const expected = oracle(trigger, all, weights)
          const measured = measure(trigger, factsOf(all, weights, noHistory))
          if (expected === undefined) assert.isUndefined(measured)
          else assertClose(measured!.value, expected)
        })
      ))

    it(`${name}: while every price stays within its range, it neither fires nor is armed again`, () =>
      fc.assert(
        fc.property(
          fc.tuple(
            holdings,
            targets,
            fc.array(fc.integer({ min: -9_999, max: 9_999 }), { minLength: 4, maxLength: 4 }),
            fc.integer({ min: 1, max: 200 }),
            fc.boolean(),
            fc.boolean()
          ),
          ([all, weights, moves, percent, isAbove, isArmed]) => {
            const before = measure(trigger, factsOf(all, weights, noHistory))
            if (before === undefined) return
            const threshold = (before.value * BigInt(percent)) / 100n + 1n
            const own: Trigger =
              trigger.kind === "portfolio_drift_from_target"
                ? trigger
                : ({
                    ...trigger,
                    comparison: isAbove ? "above" : "below",
                    threshold,
                    hysteresis: threshold / 10n
                  } as Trigger)
            const at = levelOf(own)!
            const judged = judge(at, isArmed, before.value)
            if (judged.fires) return
            const watches = new Map(
              priceWatches(at, judged.isArmed, before).map((watch) => [watch.assetId as string, watch])
            )
            // Anywhere within the range of each price; a price without a range may be anywhere at all.
            const moved = all.map((one, index): Holding => {
              const watch = watches.get(assets[index]!)
              const cents = (one.cents * BigInt(10_000 + moves[index]!)) / 10_000n
              const isWithin =
                cents > 0n &&
                (watch?.low == null || centsToWad(cents) > watch.low) &&
                (watch?.high == null || centsToWad(cents) < watch.high)
              return { ...one, cents: isWithin ? cents : one.cents }
            })
            const isOneBasisPoint = [...watches.values()].some(
              ({ high, low, assetId }) =>
                high !== null && low !== null && (high - low) * 9_000n <= before.prices.get(assetId)! * 2n
            )
            // Closer than a basis point a range lets through what the next check sees.
            if (isOneBasisPoint) return
            const after = measure(own, factsOf(moved, weights, noHistory))!
            assert.deepStrictEqual(judge(at, judged.isArmed, after.value), { fires: false, isArmed: judged.isArmed })
          }
        ),
        { numRuns: 300 }
      ))
  }

  it("candles change by recorded days alone, performance up to the price now", () => {
    const facts = factsOf(held, even, past)
    // From 40 to 50 in the thirty days up to yesterday, because today is not recorded yet.
    assert.strictEqual(measure(windowed("market_candles", assets[1]!), facts)?.value, 25n * Decimal.one)
    // From 80 thirty days ago to 100 now.
    const performance = windowed("portfolio_held_asset_performance", assets[1]!)
    assert.strictEqual(measure(performance, facts)?.value, 25n * Decimal.one)
    assert.isUndefined(measure(windowed("market_candles", assets[2]!), facts))
    assert.isUndefined(measure(windowed("portfolio_held_asset_performance", assets[2]!), facts))
    const notHeld = held.map((one, index) => (index === 1 ? { ...one, tokens: 0n } : one))
    assert.isUndefined(measure(performance, factsOf(notHeld, even, past)))
  })

  it("candles over hours change between the closes of whole candles", () => {
    const trigger: Trigger = { kind: "market_candles", assetId: assets[1]!, windowHours: 4, ...level }
    const facts: Facts = {
      ...factsOf(held, even, past),
      candleChange: (assetId, hours) =>
        assetId === assets[1] && hours === 4 ? { before: 40n * Decimal.one, now: 30n * Decimal.one } : undefined
    }
    assert.strictEqual(measure(trigger, facts)?.value, -25n * Decimal.one)
    assert.isUndefined(measure({ ...trigger, windowHours: 5 }, facts))
    assert.isUndefined(measure(trigger, factsOf(held, even, past)), "not the recorded days instead")
  })

  it("every kind that the service evaluates has a figure here", () =>
    assert.sameMembers(
      [...new Set([...triggers.map(({ kind }) => kind), "market_candles", "portfolio_held_asset_performance"])],
      [...EvaluatedKind.literals]
    ))

  it("nothing of a portfolio is measured when a part of it is not known", () => {
    const facts: Facts = { ...factsOf(held, even, noHistory), positions: undefined, prices: new Map() }
    for (const trigger of triggers)
      if (trigger.kind !== "approval_pending_count") assert.isUndefined(measure(trigger, facts), trigger.kind)
  })
})

describe("edges", () => {
  it("fire at the level, not again above it, and again only after the way back, in both directions", () =>
    fc.assert(
      fc.property(
        fc.tuple(
          fc.array(fc.bigInt(-50n, 50n), { minLength: 1, maxLength: 60 }),
          fc.bigInt(-20n, 20n),
          fc.bigInt(0n, 20n),
          fc.boolean()
        ),
        ([values, threshold, hysteresis, isAbove]) => {
          const rearm = isAbove ? threshold - hysteresis : threshold + hysteresis
          const at = { comparison: isAbove ? ("above" as const) : ("below" as const), threshold, rearm }
          let isArmed = true
          // The oracle reads the whole past: since the last fire, was there a value back at the level to rearm?
          let sinceFire: ReadonlyArray<bigint> | null = null
          for (const value of values) {
            const [reached, back] = isAbove
              ? [value >= threshold, (one: bigint) => one <= rearm && one < threshold]
              : [value <= threshold, (one: bigint) => one >= rearm && one > threshold]
            const expected: boolean = reached && (sinceFire === null || sinceFire.some(back))
            const judged = judge(at, isArmed, value)
            assert.strictEqual(judged.fires, expected)
            isArmed = judged.isArmed
            sinceFire = judged.fires ? [] : sinceFire === null ? null : [...sinceFire, value]
          }
        }
      )
    ))
})
