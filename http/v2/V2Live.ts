/** The routes of the integrator API. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import { Discovery } from "#domain/discovery/Discovery.ts"
import { ChainActivations } from "#domain/enrollment/ChainActivations.ts"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { StrategyConfiguration } from "#domain/strategy/StrategyConfiguration.ts"
import { StrategyVersions } from "#domain/strategy/StrategyVersions.ts"
import { TenantConfiguration } from "#domain/tenant/TenantConfiguration.ts"
import { WithdrawalAuthorizations } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import { Withdrawals } from "#domain/withdrawal/Withdrawals.ts"
import { buildWith } from "#http/buildWith.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"
import { ActivationLive } from "#http/v2/ActivationLive.ts"
import { Served } from "#http/v2/Api.ts"
import { AssetsLive } from "#http/v2/AssetsLive.ts"
import { DiscoveryLive } from "#http/v2/DiscoveryLive.ts"
import { EnrollmentLive } from "#http/v2/EnrollmentLive.ts"
import { IdentityLive } from "#http/v2/IdentityLive.ts"
import { MetaLive } from "#http/v2/MetaLive.ts"
import { OperationsLive } from "#http/v2/OperationsLive.ts"
import { PerformanceLive } from "#http/v2/PerformanceLive.ts"
import { PortfoliosLive } from "#http/v2/PortfoliosLive.ts"
import { StrategiesLive } from "#http/v2/StrategiesLive.ts"
import { StrategyConfigurationLive } from "#http/v2/StrategyConfigurationLive.ts"
import { TenantLive } from "#http/v2/TenantLive.ts"
import { WithdrawalsLive } from "#http/v2/WithdrawalsLive.ts"

const groups = Layer.mergeAll(
  MetaLive,
  DiscoveryLive,
  StrategiesLive,
  StrategyConfigurationLive,
  TenantLive,
  EnrollmentLive,
  ActivationLive,
  PortfoliosLive,
  OperationsLive,
  PerformanceLive,
  AssetsLive,
  WithdrawalsLive
).pipe(
  buildWith(
    ApiKeyAuth,
    WithdrawalAuthorizations,
    Withdrawals,
    EndpointLimit,
    RequestErrors,
    Discovery,
    Strategies,
    StrategyConfiguration,
    StrategyVersions,
    TenantConfiguration,
    Enrollments,
    ChainActivations,
    Portfolios,
    PositionReader,
    Rebalances,
    Operations,
    StrategyPerformances,
    PortfolioPerformances,
    Breakdowns
  )
)
const middlewares = Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, RequestErrorsLive)

export const V2Live = Layer.mergeAll(HttpApiBuilder.layer(Served).pipe(Layer.provide(groups)), IdentityLive).pipe(
  Layer.provide(middlewares)
)
