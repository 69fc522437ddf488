/**
 * All procedures of clients as one group, with a session and without: what both wires serve and what clients are made
 * of.
 */
import { RpcGroup } from "effect/rpc"
import { ActionProcedures } from "#rpc/Actions.ts"
import { ApiKeyProcedures } from "#rpc/ApiKeys.ts"
import { AssetProcedures } from "#rpc/Assets.ts"
import { CryptoMarketDataProcedures } from "#rpc/CryptoMarketData.ts"
import { DatabaseInReach } from "#rpc/DatabaseInReach.ts"
import { ExecutionProcedures } from "#rpc/execution/Executions.ts"
import { IdentityProcedures } from "#rpc/Identity.ts"
import { PortfolioProcedures } from "#rpc/portfolio/Portfolios.ts"
import { ValidInput } from "#rpc/input/ValidInput.ts"

/** Groups by the names under which `Procedures.ts` has their handlers. */
export const clientGroups = {
  cryptoMarketData: CryptoMarketDataProcedures,
  assets: AssetProcedures,
  identity: IdentityProcedures,
  apiKeys: ApiKeyProcedures,
  actions: ActionProcedures,
  executions: ExecutionProcedures,
  portfolios: PortfolioProcedures
}

export const ClientProcedures = RpcGroup.make()
  .merge(...Object.values(clientGroups))
  .middleware(ValidInput)
  .middleware(DatabaseInReach)
