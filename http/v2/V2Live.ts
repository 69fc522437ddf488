/** The routes of the integrator API. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Backtests } from "#domain/backtest/Backtests.ts"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainStates } from "#domain/chain/ChainStates.ts"
import { Discovery } from "#domain/discovery/Discovery.ts"
import { ChainActivations } from "#domain/enrollment/ChainActivations.ts"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { Renewals } from "#domain/enrollment/Renewals.ts"
import { Revocations } from "#domain/revocation/Revocations.ts"
import { TradableAssets } from "#domain/listing/TradableAssets.ts"
import { MirrorTerms } from "#domain/strategy/MirrorTerms.ts"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { Policies } from "#domain/policy/Policies.ts"
import { Cancellations } from "#domain/operation/Cancellations.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Previews } from "#domain/rebalance/preview/Previews.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { StrategyConfiguration } from "#domain/strategy/StrategyConfiguration.ts"
import { StrategyVersions } from "#domain/strategy/StrategyVersions.ts"
import { TenantConfiguration } from "#domain/tenant/TenantConfiguration.ts"
import { Webhooks } from "#domain/webhook/Webhooks.ts"
import { WithdrawalAuthorizations } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import { Withdrawals } from "#domain/withdrawal/Withdrawals.ts"
import { buildWith } from "#domain/buildWith.ts"
import { TenantEvents } from "#domain/event/TenantEvents.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { EventsLive } from "#http/v2/event/EventsLive.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { IdempotencyLive } from "#http/middleware/IdempotencyLive.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"
import { ActivationLive } from "#http/v2/enrollment/ActivationLive.ts"
import { Served } from "#http/v2/Api.ts"
import { AssetsLive } from "#http/v2/asset/AssetsLive.ts"
import { BacktestsLive } from "#http/v2/backtest/BacktestsLive.ts"
import { ChainsLive } from "#http/v2/chain/ChainsLive.ts"
import { DiscoveryLive } from "#http/v2/discovery/DiscoveryLive.ts"
import { EnrollmentLive } from "#http/v2/enrollment/EnrollmentLive.ts"
import { RenewalLive } from "#http/v2/enrollment/RenewalLive.ts"
import { RequestsLive } from "#http/v2/request/RequestsLive.ts"
import { RevocationLive } from "#http/v2/revocation/RevocationLive.ts"
import { IdentityLive } from "#http/v2/tenant/IdentityLive.ts"
import { MetaLive } from "#http/v2/meta/MetaLive.ts"
import { MirrorTermsLive } from "#http/v2/strategy/MirrorTermsLive.ts"
import { OperationsLive } from "#http/v2/portfolio/OperationsLive.ts"
import { PerformanceLive } from "#http/v2/performance/PerformanceLive.ts"
import { PolicyLive } from "#http/v2/policy/PolicyLive.ts"
import { PortfoliosLive } from "#http/v2/portfolio/PortfoliosLive.ts"
import { StrategiesLive } from "#http/v2/strategy/StrategiesLive.ts"
import { StrategyConfigurationLive } from "#http/v2/strategy/StrategyConfigurationLive.ts"
import { TenantLive } from "#http/v2/tenant/TenantLive.ts"
import { WebhooksLive } from "#http/v2/webhook/WebhooksLive.ts"
import { WithdrawalsLive } from "#http/v2/withdrawal/WithdrawalsLive.ts"

const groups = Layer.mergeAll(
  IdentityLive,
  MetaLive,
  DiscoveryLive,
  StrategiesLive,
  StrategyConfigurationLive,
  MirrorTermsLive,
  BacktestsLive,
  TenantLive,
  EnrollmentLive,
  ActivationLive,
  RenewalLive,
  RevocationLive,
  PortfoliosLive,
  PolicyLive,
  OperationsLive,
  EventsLive,
  WebhooksLive,
  RequestsLive,
  PerformanceLive,
  ChainsLive,
  AssetsLive,
  WithdrawalsLive
).pipe(
  buildWith(
    ApiKeyAuth,
    Chains,
    ChainStates,
    TradableAssets,
    WithdrawalAuthorizations,
    Withdrawals,
    EndpointLimit,
    Idempotency,
    RequestErrors,
    Discovery,
    Strategies,
    StrategyConfiguration,
    MirrorTerms,
    StrategyVersions,
    TenantConfiguration,
    Enrollments,
    ChainActivations,
    Renewals,
    Revocations,
    Portfolios,
    Cancellations,
    Policies,
    PositionReader,
    Previews,
    Rebalances,
    Operations,
    TenantEvents,
    Webhooks,
    RefusedRequests,
    StreamAdmission,
    ShutdownState,
    StreamTiming,
    StrategyPerformances,
    PortfolioPerformances,
    Breakdowns,
    Backtests
  )
)
const middlewares = Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, IdempotencyLive, RequestErrorsLive)

export const V2Live = HttpApiBuilder.layer(Served).pipe(Layer.provide(groups), Layer.provide(middlewares))
