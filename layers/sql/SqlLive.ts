/** All stores of the domain on one SqlClient, whose schema must be up to date (`Migrations.layer`). */
import { Layer } from "effect"
import { AssetStore } from "#layers/sql/AssetStore.ts"
import * as EnrollmentStore from "#layers/sql/EnrollmentStore.ts"
import * as OperationStore from "#layers/sql/OperationStore.ts"
import * as PortfolioStore from "#layers/sql/PortfolioStore.ts"
import * as RelayStore from "#layers/sql/RelayStore.ts"
import * as RunStore from "#layers/sql/RunStore.ts"
import * as StrategyStore from "#layers/sql/StrategyStore.ts"
import * as TenantStore from "#layers/sql/TenantStore.ts"

export const SqlLive = Layer.mergeAll(
  AssetStore.layer,
  EnrollmentStore.layer,
  OperationStore.layer,
  PortfolioStore.layer,
  RelayStore.layer,
  RunStore.layer,
  StrategyStore.layer,
  TenantStore.layer
)
