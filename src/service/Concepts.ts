/**
 * What answers requests: the domain's services as they stand on each other, without what goes on by the clock. The
 * service and the API of tests are made of it.
 */
import { Layer } from "effect"
import { CallsPreparer } from "#domain/order/CallsPreparer.ts"
import { DirectExecutions } from "#domain/order/DirectExecutions.ts"
import { Backtests } from "#domain/backtest/Backtests.ts"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import { Curation } from "#domain/discovery/Curation.ts"
import { Discovery } from "#domain/discovery/Discovery.ts"
import { ChainActivations } from "#domain/enrollment/ChainActivations.ts"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { LegacyRenewals } from "#domain/enrollment/LegacyRenewals.ts"
import { Renewals } from "#domain/enrollment/Renewals.ts"
import { TenantEvents } from "#domain/event/TenantEvents.ts"
import { Executions } from "#domain/execution/Executions.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { TradableAssets } from "#domain/listing/TradableAssets.ts"
import { PriceRecorder } from "#domain/market/PriceRecorder.ts"
import { MonitorTicks } from "#domain/monitor/MonitorTicks.ts"
import { Monitors } from "#domain/monitor/Monitors.ts"
import { Workflows } from "#domain/monitor/Workflows.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { Policies } from "#domain/policy/Policies.ts"
import { PortfolioAccess } from "#domain/portfolio/PortfolioAccess.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Automation } from "#domain/rebalance/Automation.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { Revocations } from "#domain/revocation/Revocations.ts"
import { MirrorTerms } from "#domain/strategy/MirrorTerms.ts"
import { Mirrorability } from "#domain/strategy/Mirrorability.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { StrategyConfiguration } from "#domain/strategy/StrategyConfiguration.ts"
import { StrategyVersions } from "#domain/strategy/StrategyVersions.ts"
import { TenantConfiguration } from "#domain/tenant/TenantConfiguration.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { Webhooks } from "#domain/webhook/Webhooks.ts"
import { WithdrawalAuthorizations } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import { Withdrawals } from "#domain/withdrawal/Withdrawals.ts"

/** What reads of recorded prices and values. */
const Performance = Layer.mergeAll(StrategyPerformances.layer, Backtests.layer, PortfolioPerformances.layer).pipe(
  Layer.provide([PriceRecorder.layer, Strategies.layer, Portfolios.layer])
)

/** Needs the ports of the domain, its settings, and what launches operations and tries plans. */
export const Concepts = Layer.mergeAll(
  ApiKeys.layer,
  RefusedRequests.layer,
  Tenants.layer,
  Sessions.layer,
  Strategies.layer,
  StrategyConfiguration.layer,
  Mirrorability.layer,
  MirrorTerms.layer,
  StrategyVersions.layer,
  TenantConfiguration.layer,
  Discovery.layer,
  Curation.layer,
  Enrollments.layer,
  ChainActivations.layer,
  LegacyRenewals.layer.pipe(Layer.provideMerge(Renewals.layer)),
  Revocations.layer,
  Policies.layer,
  Breakdowns.layer,
  TradableAssets.layer,
  DirectExecutions.layer.pipe(Layer.provide(CallsPreparer.layer), Layer.provide(GasBudget.layer)),
  Automation.layer.pipe(Layer.provideMerge([Rebalances.layer, Portfolios.layer])),
  PortfolioAccess.layer,
  Operations.layer,
  Executions.layer,
  TenantEvents.layer,
  Webhooks.layer,
  WithdrawalAuthorizations.layer,
  Withdrawals.layer.pipe(Layer.provide(GasBudget.layer)),
  Performance,
  Layer.merge(Monitors.layer, Workflows.layer).pipe(Layer.provide(MonitorTicks.layer), Layer.provide(InTransit.layer)),
  PositionReader.layer.pipe(Layer.provideMerge(Portfolios.layer), Layer.provide(InTransit.layer))
)
