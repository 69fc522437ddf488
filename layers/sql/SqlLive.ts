/** All stores of the domain on one SqlClient, whose schema must be up to date (`Migrations.layer`). */
import { Layer } from "effect"
import * as AnalyticsStore from "#layers/sql/AnalyticsStore.ts"
import { AssetStore } from "#layers/sql/AssetStore.ts"
import { CatalogueStore } from "#layers/sql/CatalogueStore.ts"
import * as CurveStore from "#layers/sql/CurveStore.ts"
import * as DailyPriceStore from "#layers/sql/DailyPriceStore.ts"
import * as DiscoveryStore from "#layers/sql/DiscoveryStore.ts"
import * as DueStore from "#layers/sql/DueStore.ts"
import * as EnrollmentStore from "#layers/sql/EnrollmentStore.ts"
import * as ExecutionLog from "#layers/sql/ExecutionLog.ts"
import * as OperationStore from "#layers/sql/OperationStore.ts"
import * as PortfolioStore from "#layers/sql/PortfolioStore.ts"
import * as RelayStore from "#layers/sql/RelayStore.ts"
import * as RequiredSignatures from "#layers/sql/RequiredSignatures.ts"
import * as RunStore from "#layers/sql/RunStore.ts"
import * as StepStore from "#layers/sql/StepStore.ts"
import * as StrategyStore from "#layers/sql/StrategyStore.ts"
import * as TenantConfigurationStore from "#layers/sql/TenantConfigurationStore.ts"
import * as TenantStore from "#layers/sql/TenantStore.ts"
import * as TransferLedger from "#layers/sql/TransferLedger.ts"
import * as ValuationStore from "#layers/sql/ValuationStore.ts"
import * as WithdrawalStore from "#layers/sql/WithdrawalStore.ts"

export const SqlLive = Layer.mergeAll(
  AnalyticsStore.layer,
  AssetStore.layer,
  CatalogueStore.layer,
  DiscoveryStore.layer,
  CurveStore.layer,
  DailyPriceStore.layer,
  DueStore.layer,
  EnrollmentStore.layer,
  ExecutionLog.layer,
  OperationStore.layer,
  PortfolioStore.layer,
  RelayStore.layer,
  RequiredSignatures.layer,
  RunStore.layer,
  StepStore.layer,
  StrategyStore.layer,
  TenantConfigurationStore.layer,
  TenantStore.layer,
  TransferLedger.layer,
  ValuationStore.layer,
  WithdrawalStore.layer
)
