/**
 * All procedures of clients as one group, with a session and without: what both wires serve and what clients are made
 * of.
 */
import { ActionProcedures } from "#rpc/Actions.ts"
import { ApiKeyProcedures } from "#rpc/ApiKeys.ts"
import { AssetProcedures } from "#rpc/Assets.ts"
import { CryptoMarketDataProcedures } from "#rpc/CryptoMarketData.ts"
import { ExecutionProcedures } from "#rpc/execution/Executions.ts"
import { IdentityProcedures } from "#rpc/Identity.ts"
import { ValidInput } from "#rpc/ValidInput.ts"

export const ClientProcedures = CryptoMarketDataProcedures.merge(
  AssetProcedures,
  IdentityProcedures,
  ApiKeyProcedures,
  ActionProcedures,
  ExecutionProcedures
).middleware(ValidInput)
