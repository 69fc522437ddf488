/** The input and the result of a backtest. */
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { Outcome } from "#domain/backtest/followRule.ts"
import type * as Day from "#domain/values/Day.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import type { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"

export interface BacktestTask {
  readonly allocation: Allocation
  readonly schedule: RebalanceSchedule
  /** Left out: every deviation of the threshold is traded to its target. */
  readonly rebalancePolicy?: RebalancePolicy
  /** First and last day, UTC. */
  readonly from: Day.Day
  readonly to: Day.Day
  /** What the portfolio is worth at first, US dollars (wad). */
  readonly valueUsd: bigint
  /** Minimum deviation and minimum trade, US dollars (wad). */
  readonly thresholdUsd: bigint
  readonly slippageBps: number
  readonly feeBps: number
  /** Gas of a swap, US dollars (wad). */
  readonly gasUsd: bigint
}

/** What a portfolio was worth on a day, US dollars (wad). */
export interface ValuePoint {
  readonly day: Day.Day
  readonly usd: bigint
}

export interface Course extends Outcome {
  readonly points: ReadonlyArray<ValuePoint>
}

export interface Backtest {
  readonly task: BacktestTask
  /** Course of the task's policy. */
  readonly strategy: Course
  /** Every deviation of the threshold traded to its target. */
  readonly exactTarget: Course
  /** Nothing traded. */
  readonly buyAndHold: Course
}

/** Bounds of the input. */
export const limits = {
  /** Most days from the first to the last. */
  maxDays: 366,
  minUsd: 100n * 10n ** 18n,
  maxUsd: 1_000_000_000n * 10n ** 18n,
  maxGasUsd: 1_000n * 10n ** 18n,
  /** Greatest fee of a swap, basis points. */
  maxFeeBps: 1_000
} as const
