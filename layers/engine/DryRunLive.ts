/** What a run would do now, by the planner, the quotes and the simulation of the engine's runs. */
import { Layer } from "effect"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { DryRun } from "#domain/rebalance/preview/DryRun.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"

export const DryRunLive = DryRun.layer.pipe(
  Layer.provide(BatchPreparer.layer),
  Layer.provide([GasBudget.layer, RunPlanner.layer]),
  Layer.provide([InTransit.layer, PortfolioValuer.layer])
)
