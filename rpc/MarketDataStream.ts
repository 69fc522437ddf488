/**
 * Contract: the operator's procedures of the market-data stream. Source: interface "Market-data stream worker"; shapes
 * U.
 */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Internal, ValidationFailed } from "#domain/errors/Errors.ts"
import { Provider } from "#domain/stream/PublicAsset.ts"
import { ProviderConnected, ProviderDisconnected, WorkerStatus } from "#domain/stream/WorkerStatus.ts"
import { AdminAccess } from "#rpc/AdminAccess.ts"

/** `ValidationFailed` when the worker answers that the request is invalid, `Internal` when it does not answer. */
const error = Schema.Union([ValidationFailed, Internal])
const ofProvider = { provider: Provider }

export const MarketDataStreamProcedures = RpcGroup.make(
  Rpc.make("marketDataStream.adminStatus", { success: WorkerStatus, error }),
  Rpc.make("marketDataStream.adminConnectProvider", { payload: ofProvider, success: ProviderConnected, error }),
  Rpc.make("marketDataStream.adminDisconnectProvider", { payload: ofProvider, success: ProviderDisconnected, error })
).middleware(AdminAccess)
