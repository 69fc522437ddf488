/** All stores of the domain on one SqlClient, whose schema must be up to date (`Migrations.layer`). */
import { Layer } from "effect"
import { TransientFault } from "#domain/errors/TransientFault.ts"
import * as AccountQueue from "#layers/sql/operation/AccountQueue.ts"
import * as OrderStore from "#layers/sql/order/OrderStore.ts"
import * as IssuerQuoteStore from "#layers/sql/order/IssuerQuoteStore.ts"
import { isTransientFault } from "#layers/sql/isDatabaseFault.ts"
import * as AnalyticsStore from "#layers/sql/discovery/AnalyticsStore.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"
import * as CostLedger from "#layers/sql/rebalance/CostLedger.ts"
import * as CurveStore from "#layers/sql/performance/CurveStore.ts"
import * as DatabaseProbe from "#layers/sql/health/DatabaseProbe.ts"
import * as DailyPriceStore from "#layers/sql/market/DailyPriceStore.ts"
import * as DiscoveryStore from "#layers/sql/discovery/DiscoveryStore.ts"
import * as DueStore from "#layers/sql/rebalance/DueStore.ts"
import * as EnrollmentStore from "#layers/sql/enrollment/EnrollmentStore.ts"
import * as ExecutionLog from "#layers/sql/execution/ExecutionLog.ts"
import * as GasLedger from "#layers/sql/relay/GasLedger.ts"
import * as IdempotencyKeys from "#layers/sql/identity/IdempotencyKeys.ts"
import * as ListedAssets from "#layers/sql/asset/ListedAssets.ts"
import * as LastPriceStore from "#layers/sql/market/LastPriceStore.ts"
import * as LostCommits from "#layers/sql/operation/LostCommits.ts"
import * as MarketCheckStore from "#layers/sql/asset/MarketCheckStore.ts"
import * as MarketDataStore from "#layers/sql/marketData/MarketDataStore.ts"
import * as MirrorabilityStore from "#layers/sql/strategy/MirrorabilityStore.ts"
import * as MirrorTermsStore from "#layers/sql/strategy/MirrorTermsStore.ts"
import * as MonitorStore from "#layers/sql/monitor/MonitorStore.ts"
import * as OperationStore from "#layers/sql/operation/OperationStore.ts"
import * as SubAccountJournal from "#layers/sql/enrollment/SubAccountJournal.ts"
import * as PortfolioAccessStore from "#layers/sql/portfolio/PortfolioAccessStore.ts"
import * as PortfolioStore from "#layers/sql/portfolio/PortfolioStore.ts"
import * as RefusedRequestStore from "#layers/sql/request/RefusedRequestStore.ts"
import * as RelayStore from "#layers/sql/relay/RelayStore.ts"
import * as RequiredSignatures from "#layers/sql/account/RequiredSignatures.ts"
import * as RevocationStore from "#layers/sql/revocation/RevocationStore.ts"
import * as PreviewStore from "#layers/sql/rebalance/PreviewStore.ts"
import * as RunHistory from "#layers/sql/rebalance/RunHistory.ts"
import * as RunStore from "#layers/sql/rebalance/RunStore.ts"
import * as SessionStore from "#layers/sql/identity/SessionStore.ts"
import * as PartJournal from "#layers/sql/relay/PartJournal.ts"
import * as StepStore from "#layers/sql/operation/StepStore.ts"
import * as StrategyStore from "#layers/sql/strategy/StrategyStore.ts"
import * as SuspendedRuns from "#layers/sql/operation/SuspendedRuns.ts"
import * as TradableAssetStore from "#layers/sql/listing/TradableAssetStore.ts"
import * as TokenCheckStore from "#layers/sql/asset/TokenCheckStore.ts"
import * as TokenEntryStore from "#layers/sql/asset/TokenEntryStore.ts"
import * as TenantConfigurationStore from "#layers/sql/tenant/TenantConfigurationStore.ts"
import * as TenantEventLog from "#layers/sql/event/TenantEventLog.ts"
import * as TenantStore from "#layers/sql/identity/TenantStore.ts"
import * as LastChanges from "#layers/sql/transfer/LastChanges.ts"
import * as TransferLedger from "#layers/sql/transfer/TransferLedger.ts"
import * as UserStore from "#layers/sql/identity/UserStore.ts"
import * as ValuationStore from "#layers/sql/performance/ValuationStore.ts"
import * as DeliveryStore from "#layers/sql/webhook/DeliveryStore.ts"
import * as WebhookStore from "#layers/sql/webhook/WebhookStore.ts"
import * as WithdrawalStore from "#layers/sql/withdrawal/WithdrawalStore.ts"

export const SqlLive = Layer.mergeAll(
  AccountQueue.layer,
  OrderStore.layer,
  AnalyticsStore.layer,
  AssetStore.layer,
  CatalogueStore.layer,
  DiscoveryStore.layer,
  CostLedger.layer,
  CurveStore.layer,
  DailyPriceStore.layer,
  DatabaseProbe.layer,
  DueStore.layer,
  EnrollmentStore.layer,
  ExecutionLog.layer,
  GasLedger.layer,
  IdempotencyKeys.layer,
  IssuerQuoteStore.layer,
  ListedAssets.layer,
  LastPriceStore.layer,
  LostCommits.layer,
  MarketCheckStore.layer,
  MarketDataStore.layer,
  MirrorabilityStore.layer,
  MirrorTermsStore.layer,
  MonitorStore.layer,
  OperationStore.layer,
  SubAccountJournal.layer,
  PortfolioAccessStore.layer,
  PortfolioStore.layer,
  RefusedRequestStore.layer,
  RelayStore.layer,
  RequiredSignatures.layer,
  RevocationStore.layer,
  PreviewStore.layer,
  RunHistory.layer,
  RunStore.layer,
  SessionStore.layer,
  PartJournal.layer,
  StepStore.layer,
  StrategyStore.layer,
  SuspendedRuns.layer,
  Layer.succeed(TransientFault, isTransientFault),
  TenantConfigurationStore.layer,
  TenantEventLog.layer,
  TenantStore.layer,
  TokenCheckStore.layer,
  TokenEntryStore.layer,
  TradableAssetStore.layer,
  LastChanges.layer,
  TransferLedger.layer,
  UserStore.layer.pipe(Layer.provide(TenantStore.layer)),
  ValuationStore.layer,
  DeliveryStore.layer,
  WebhookStore.layer,
  WithdrawalStore.layer
)
