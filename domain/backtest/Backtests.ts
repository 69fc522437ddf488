/**
 * Backtests over the recorded daily prices. What was computed is kept for ten minutes: recorded prices do not change.
 * One at a time is computed by a process, so that they do not keep it from its other work.
 */
import { Cache, Context, DateTime, Duration, Effect, Equal, Hash, Layer, Semaphore } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { type Backtest, type BacktestTask, limits } from "#domain/backtest/Backtest.ts"
import { type History, runBacktest } from "#domain/backtest/runBacktest.ts"
import * as Day from "#domain/values/Day.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { PriceRecorder } from "#domain/market/PriceRecorder.ts"
import { lookbackDays } from "#domain/rebalance/plan/planPolicyOf.ts"
import { SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { requireValid } from "#domain/strategy/requireValid.ts"

const timeToLive = Duration.minutes(10)
const kept = 200

/** What a client sends; what it leaves out is the service's own. */
export interface BacktestDraft extends Omit<BacktestTask, "thresholdUsd" | "slippageBps"> {
  readonly thresholdUsd?: bigint | undefined
  readonly slippageBps?: number | undefined
}

/**
 * What a policy would have done over recorded prices.
 *
 * **When to use**
 *
 * Use in the route that computes backtests. What a strategy's target alone would have done is `StrategyPerformances`.
 */
export class Backtests extends Context.Service<
  Backtests,
  {
    /** Refuses what is out of its bounds, and days for which an asset has no prices. */
    readonly run: (draft: BacktestDraft) => Effect.Effect<Backtest, ValidationFailed>
  }
>()("ballast/domain/backtest/Backtests") {
  static readonly layer = Layer.effect(
    Backtests,
    Effect.gen(function* () {
      const store = yield* DailyPriceStore
      const recorder = yield* PriceRecorder
      const assets = yield* Assets
      const chains = yield* Chains
      const { defaults, minTradeUsd } = yield* SwapSettings
      const turn = yield* Semaphore.make(1)

      const historyOf = ({ allocation, from }: BacktestTask) =>
        store.read(
          allocation.map(({ assetId }) => assetId),
          Day.add(from, -lookbackDays - 1)
        )

      const compute = Effect.fn("Backtests.compute")(function* (task: BacktestTask) {
        let history = yield* historyOf(task)
        if (gapsOf(task, history).length > 0) {
          yield* recorder.begin(task.allocation.map(({ assetId }) => assetId))
          history = yield* historyOf(task)
        }
        const gaps = gapsOf(task, history)
        if (gaps.length > 0)
          return yield* new ValidationFailed({
            message: `Not every asset has a price of ${Day.format(task.from)}, the first day. Begin on a day from which all have prices`,
            details: gaps
          })
        return yield* turn.withPermit(runBacktest(task, history, minTradeUsd))
      })

      const memory = yield* Cache.make({
        lookup: ({ task }: Question) => compute(task),
        capacity: kept,
        timeToLive: timeToLive
      })

      const run = Effect.fn("Backtests.run")(function* ({ slippageBps, thresholdUsd, ...draft }: BacktestDraft) {
        const task: BacktestTask = {
          ...draft,
          slippageBps: slippageBps ?? defaults.slippageBps,
          thresholdUsd: greater(thresholdUsd ?? defaults.thresholdUsd, minTradeUsd)
        }
        const problems = problemsOf(task, Day.of(yield* DateTime.now))
        if (problems.length > 0)
          return yield* new ValidationFailed({ message: "The backtest is out of its bounds", details: problems })
        yield* requireValid({ assets, chains }, task.allocation)
        const question = new Question(task)
        return yield* Cache.get(memory, question).pipe(Effect.tapError(() => Cache.invalidate(memory, question)))
      })

      return Backtests.of({ run })
    })
  )
}

/** A task as a cache key. */
class Question implements Equal.Equal {
  readonly task: BacktestTask
  readonly text: string
  constructor(task: BacktestTask) {
    this.task = task
    this.text = JSON.stringify(task, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
  }
  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof Question && that.text === this.text
  }
  [Hash.symbol](): number {
    return Hash.string(this.text)
  }
}

const greater = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/** Days that are out of the bounds, with the field and its range. */
const problemsOf = ({ from, to }: BacktestTask, today: Day.Day): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (to > today) problems.push(`to: expected a day up to today, ${Day.format(today)}`)
  if (to <= from || to - from > limits.maxDays)
    problems.push(
      `from: expected 1 to ${limits.maxDays} days before ${Day.format(to)}, from ${Day.format(Day.add(to, -limits.maxDays))} to ${Day.format(Day.add(to, -1))}`
    )
  return problems
}

/** Assets without a price of the first day, with the day from which there are prices. */
const gapsOf = ({ allocation, from }: BacktestTask, history: History): ReadonlyArray<string> =>
  allocation.flatMap(({ assetId }, index) => {
    const days = [...(history.get(assetId)?.keys() ?? [])].filter((day) => day >= from)
    const first = days.reduce<Day.Day | undefined>(
      (least, day) => (least === undefined || day < least ? day : least),
      undefined
    )
    if (first === from) return []
    const field = `allocation.assets.${index}.assetId: `
    return first === undefined
      ? `${field}no prices of ${assetId} are recorded since ${Day.format(from)}; they are once a strategy names the asset`
      : `${field}prices of ${assetId} exist from ${Day.format(first)} on`
  })
