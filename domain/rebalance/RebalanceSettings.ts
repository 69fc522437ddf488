/** Times at which portfolios are rebalanced, and how long runs wait. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * How long after a manual rebalance another one is refused, and how long a run waits for its owner.
 *
 * **When to use**
 *
 * Use where rebalances are begun by hand, and where runs wait. When they begin by schedule is `SchedulerSettings`.
 */
export class RebalanceSettings extends Context.Service<
  RebalanceSettings,
  {
    /** Milliseconds after a manual rebalance in which another of the same portfolio is refused. */
    readonly cooldownMs: number
    /** Milliseconds that a run waits for a new signature of the owner before it fails. */
    readonly signatureWaitMs: number
  }
>()("ballast/domain/rebalance/RebalanceSettings") {}

/**
 * How often work that is due is searched for.
 *
 * **When to use**
 *
 * Use in fibers that begin runs: `Scheduler` and `MonitorDriver`.
 */
export class SchedulerSettings extends Context.Service<
  SchedulerSettings,
  {
    /** How often due portfolios are polled for, in milliseconds. */
    readonly intervalMs: number
    /** How many of them are claimed at once. */
    readonly batch: number
  }
>()("ballast/domain/rebalance/SchedulerSettings") {}
