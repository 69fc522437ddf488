/**
 * `npm run demo -- backtest`: two policies over the prices that the sandbox has recorded, drawn beside the exact target
 * and buy and hold.
 */
import { Effect } from "effect"
import * as Day from "#domain/values/Day.ts"
import type { BacktestDraft } from "#http/v2/backtest/BacktestModel.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { assetOf } from "#src/demo/assetOf.ts"
import { timeout, poll } from "#src/demo/completed.ts"
import { line, step, title } from "#src/demo/print.ts"
import { draw } from "#src/demo/sparkline.ts"

const days = 180
/** Points that fit on a line. */
const width = 60

const target = [
  ["USDC", 20],
  ["WETH", 40],
  ["cbBTC", 40]
] as const

const policies = [
  ["bands of 10 %", { band: { kind: "relative", width: 1_000 } }],
  ["automatic bands", { band: { kind: "auto" } }]
] as const

const shown = (points: ReadonlyArray<{ readonly valueUsd: string }>): string => {
  const every = Math.max(1, Math.ceil(points.length / width))
  return draw(points.filter((_, at) => at % every === 0).map(({ valueUsd }) => Number(valueUsd)))
}

interface Course {
  readonly endValueUsd: string
  readonly costBps: string
  readonly trackingError: string
  readonly trades: number
  readonly points: ReadonlyArray<{ readonly valueUsd: string }>
}

const row = (name: string, { costBps, endValueUsd, points, trackingError, trades }: Course) =>
  line(
    `${name.padEnd(16)} ${shown(points)} $${Number(endValueUsd).toFixed(2)}  ${costBps.padStart(7)} bps  ${Number(trackingError).toFixed(2)} %  ${String(trades).padStart(4)} trades`
  )

/** Prices are recorded of the assets of strategies, so there has to be one; its histories arrive within moments. */
const recorded = Effect.gen(function* () {
  const ballast = yield* Ballast
  const assets = yield* Effect.forEach(target, ([symbol, percent]) =>
    Effect.map(assetOf(8453, symbol), ({ assetId }) => ({ assetId, weight: percent * 100 }))
  )
  const schedule = { type: "interval", frequency: "daily" } as const
  const { data } = yield* ballast.strategies.createStrategy({
    payload: { name: "Backtested", allocation: { assets }, schedule }
  })
  const params = { strategyId: data.strategyId as never }
  const { points } = yield* ballast.performance.getStrategyPerformance({ params }).pipe(
    Effect.map((answer) => answer.data),
    Effect.repeat({ schedule: poll, until: (performance) => performance.points.length > 1 }),
    Effect.timeout(timeout)
  )
  return { assets, schedule, first: Day.parse(points[0]!.date)!, to: Day.parse(points.at(-1)!.date)! }
})

export const backtest = Effect.gen(function* () {
  const ballast = yield* Ballast
  yield* title("Backtest")
  const { assets, first, schedule, to } = yield* step("A strategy, and the history of its assets", recorded)
  const from = Day.Day.make(Math.max(first, to - days))
  const run = (rebalancePolicy: (typeof BacktestDraft.Type)["rebalancePolicy"] & {}) =>
    ballast.backtests.backtestStrategy({ payload: { allocation: { assets }, schedule, from, to, rebalancePolicy } })
  yield* line(`${Day.format(from)} to ${Day.format(to)}, daily, 30 bps and $0.10 a swap`)
  const answers = yield* Effect.forEach(policies, ([name, policy]) =>
    Effect.map(run(policy), ({ data }) => ({ name, data }))
  )
  for (const { data, name } of answers) yield* row(name, data.strategy)
  yield* row("exact target", answers[0]!.data.exactTarget)
  yield* row("buy and hold", answers[0]!.data.buyAndHold)
})
