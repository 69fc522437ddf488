/** The routes of the integrator API. Each group builds its handlers among what it names (`buildGroup`). */
import { Layer } from "effect"
import { serveGroups } from "#http/serveGroups.ts"
import { EventsLive } from "#http/v2/event/EventsLive.ts"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { IdempotencyLive } from "#http/middleware/IdempotencyLive.ts"
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

/** The handlers of each group of `Api.ts`, by its identifier. */
const handlers = {
  identity: IdentityLive,
  meta: MetaLive,
  discovery: DiscoveryLive,
  strategies: StrategiesLive,
  strategyConfiguration: StrategyConfigurationLive,
  mirrorTerms: MirrorTermsLive,
  backtests: BacktestsLive,
  tenant: TenantLive,
  enrollment: EnrollmentLive,
  activation: ActivationLive,
  renewal: RenewalLive,
  revocation: RevocationLive,
  portfolios: PortfoliosLive,
  policy: PolicyLive,
  operations: OperationsLive,
  events: EventsLive,
  webhooks: WebhooksLive,
  requests: RequestsLive,
  performance: PerformanceLive,
  chains: ChainsLive,
  assets: AssetsLive,
  withdrawals: WithdrawalsLive
}
const middlewares = Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, IdempotencyLive, RequestErrorsLive)

export const V2Live = serveGroups(Served, handlers).pipe(Layer.provide(middlewares))
