/** The service itself: the domain's services over the adapters that keep their ports, and the engine. */
import { NodeServices } from "@effect/platform-node"
import { Layer } from "effect"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import { CurrentBalances } from "#domain/chain/CurrentBalances.ts"
import { StrategyAnalytics } from "#domain/discovery/StrategyAnalytics.ts"
import { FlowPruner } from "#domain/enrollment/FlowPruner.ts"
import { TenantEvents } from "#domain/event/TenantEvents.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { OperationTails } from "#domain/execution/OperationTails.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { StandingAccess } from "#domain/identity/access/StandingAccess.ts"
import { KeyPruner } from "#domain/identity/KeyPruner.ts"
import { Members } from "#domain/identity/Members.ts"
import { OwnKeys } from "#domain/identity/OwnKeys.ts"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import { ShownPrices } from "#domain/listing/ShownPrices.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { MarketChecks } from "#domain/trading/MarketChecks.ts"
import { BalancesOnce } from "#domain/asset/BalancesOnce.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import { MarketDataRefresh } from "#domain/marketData/MarketDataRefresh.ts"
import { PriceRecorder } from "#domain/market/PriceRecorder.ts"
import { MonitorDriver } from "#domain/monitor/MonitorDriver.ts"
import { ListedCandles } from "#domain/monitor/listedCandles.ts"
import { MonitorTicks } from "#domain/monitor/MonitorTicks.ts"
import { Valuer } from "#domain/performance/Valuer.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { TenantOrigins } from "#domain/tenant/TenantOrigins.ts"
import { Reconciler } from "#domain/transfer/Reconciler.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { SubjectFactsLive } from "#layers/catalogue/SubjectFactsLive.ts"
import { LoadCatalogue } from "#layers/catalogue/LoadCatalogue.ts"
import { WebhookDeliveries } from "#domain/webhook/WebhookDeliveries.ts"
import { SecretReseal } from "#domain/webhook/SecretReseal.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { LivenessLive } from "#layers/engine/LivenessLive.ts"
import { Readiness } from "#domain/health/Readiness.ts"
import { SignalSteps } from "#layers/engine/SignalSteps.ts"
import { StallMonitor } from "#domain/relay/StallMonitor.ts"
import { PriceAttestorLive } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import { SolanaClients, SolanaLive } from "#layers/solana/SolanaLive.ts"
import { SolanaPrices } from "#layers/solana/SolanaPrices.ts"
import { EventWriterLive } from "#http/v2/webhook/EventWriterLive.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { SecretBoxLive } from "#layers/identity/SecretBoxLive.ts"
import { CoinGecko } from "#layers/market/CoinGecko.ts"
import { CoinGeckoHistory } from "#layers/market/CoinGeckoHistory.ts"
import { GuardedPrices } from "#layers/market/GuardedPrices.ts"
import { MarketDataJobsLive } from "#layers/market/MarketDataJobsLive.ts"
import { PricesLive } from "#layers/market/PricesLive.ts"
import { TokenLists } from "#layers/market/TokenLists.ts"
import { OndoIssuer } from "#layers/issuer/ondo/OndoIssuer.ts"
import { LifiPriceCheck } from "#layers/routing/lifi/LifiPriceCheck.ts"
import { LifiRouting } from "#layers/routing/lifi/LifiRouting.ts"
import { NotePepper } from "#layers/sql/identity/Peppers.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { WebhookSenderLive } from "#layers/webhook/WebhookSenderLive.ts"
import { Concepts } from "#src/service/Concepts.ts"

const Adapters = Layer.mergeAll(TokenLists, LoadCatalogue).pipe(
  Layer.provide(NodeServices.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      SqlLive,
      FamiliesLive,
      BalancesOnce.pipe(
        Layer.provideMerge(CurrentBalances),
        Layer.provideMerge(SolanaLive),
        Layer.provideMerge(EvmLive.pipe(Layer.provide(PriceAttestorLive))),
        Layer.provideMerge(SolanaClients),
        Layer.provide(SqlLive)
      ),
      KeyHashLive,
      SecretBoxLive,
      WebhookSenderLive,
      SolanaPrices.pipe(
        Layer.provide(PricesLive.pipe(Layer.provide(GuardedPrices), Layer.provide([CoinGecko, LifiPriceCheck]))),
        Layer.provide([SolanaClients, SqlLive])
      ),
      CoinGeckoHistory,
      LifiRouting,
      OndoIssuer
    )
  )
)

const Engine = Layer.mergeAll(Readiness.layer, LivenessLive, StallMonitor.fiber).pipe(
  Layer.provide(StallMonitor.layer),
  Layer.provideMerge(SchedulerLive),
  Layer.provideMerge(EngineLive),
  Layer.provide(SignalSteps)
)

/** What records prices and values of portfolios by the clock. */
const Recording = Layer.merge(PriceRecorder.fiber, Valuer.fiber.pipe(Layer.provide(Valuer.layer))).pipe(
  Layer.provide([PriceRecorder.layer, Strategies.layer, Portfolios.layer])
)

/** What the index of listed assets is made from. */
const ListedData = Layer.merge(MarketDataCache.layer, SubjectFactsLive)

/** The shared cache of market data: what fills it, what keeps it in memory, and what reads it. */
const MarketData = Layer.mergeAll(
  CryptoMarketData.layer,
  AssetBrowsing.layer,
  AssetSearch.layer,
  AssetProfiles.layer,
  AssetIndex.fiber,
  MarketDataCache.fiber,
  MarketDataRefresh.fiber.pipe(Layer.provide(MarketDataRefresh.layer), Layer.provide(MarketDataJobsLive))
).pipe(Layer.provide(AssetIndex.layer), Layer.provide(ListedData))

/** What goes on by the clock beside the engine: workflows that wait, and what is recorded. */
const Clocked = Layer.merge(
  Recording,
  MonitorDriver.fiber.pipe(
    Layer.provide(MonitorDriver.layer),
    Layer.provide(MonitorTicks.layer),
    Layer.provide(InTransit.layer)
  )
)

/** What procedures alone ask for. */
const Procedures = Layer.mergeAll(
  OwnKeys.layer.pipe(Layer.provide(Tenants.layer)),
  Members.layer,
  SignIns.layer.pipe(Layer.provide(Sessions.layer)),
  Orders.layer.pipe(Layer.provideMerge(IssuerQuotes.layer))
)

const Listed = Layer.merge(ShownPrices.layer, ListedCandles).pipe(
  Layer.provide(AssetIndex.layer),
  Layer.provide(ListedData)
)

const Analytics = StrategyAnalytics.fiber.pipe(Layer.provide(StrategyAnalytics.layer))

const Deliveries = WebhookDeliveries.fiber.pipe(Layer.provide(WebhookDeliveries.layer), Layer.provide(EventWriterLive))

const Reconciliation = Reconciler.fiber.pipe(Layer.provide(Reconciler.layer))

/** The service whole, of what surrounds it: stores, chains, prices, and what signs and sends. */
export const ServiceWithin = Layer.mergeAll(
  Analytics,
  Reconciliation,
  Deliveries,
  FlowPruner,
  KeyPruner,
  NotePepper,
  SecretReseal,
  TenantEvents.pruner,
  RefusedRequests.pruner
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Concepts, TenantOrigins.layer, Procedures, MarketData, Clocked).pipe(
      Layer.provide(DryRunLive),
      Layer.provide(Listed)
    )
  ),
  Layer.provideMerge(Engine),
  Layer.provideMerge(
    Layer.merge(OperationTails.layer, StreamAdmission.layer.pipe(Layer.provide(StandingAccess.layer)))
  ),
  Layer.provideMerge(AccessChanges.layer)
)

/** What holds the token lists against the chains, and prices against markets. */
const Tokens = Layer.merge(TokenChecks.fiber, MarketChecks.fiber.pipe(Layer.provide(MarketChecks.layer)))

export const Service = Layer.merge(ServiceWithin, Tokens).pipe(
  Layer.provideMerge(TokenChecks.layer),
  Layer.provideMerge(Adapters)
)
