/**
 * All procedures of the API over its two wires: the interface's, a route for each procedure, and Effect's own RPC at `/v1/rpc`.
 * Needs the domain's services and the operator's token.
 */
import { Layer } from "effect"
import { RpcSerialization, RpcServer } from "effect/rpc"
import type { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import type { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import type { AssetSearch } from "#domain/listing/AssetSearch.ts"
import type { CountryHeader } from "#domain/listing/CountryHeader.ts"
import type { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { AdminAccessLive } from "#rpc/AdminAccessLive.ts"
import { AssetsLive } from "#rpc/AssetsLive.ts"
import { CryptoMarketDataLive } from "#rpc/CryptoMarketDataLive.ts"
import { countedProtocol } from "#rpc/countedProtocol.ts"
import { jsonWire, routesOf } from "#rpc/jsonWire.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"
import { MarketDataStreamLive } from "#rpc/MarketDataStreamLive.ts"
import { PublicProcedures } from "#rpc/PublicProcedures.ts"

const nativePath = "/v1/rpc"
/** Calls of one request of the native wire that run at the same time. */
const concurrency = 8

const NativeWire = RpcServer.layer(PublicProcedures, {
  concurrency,
  disableFatalDefects: true,
  disableTracing: true
}).pipe(Layer.provide(countedProtocol(nativePath)), Layer.provide(RpcSerialization.layerNdjson))

/** Every route of this layer by its method and path. */
export const procedureRoutes: ReadonlyArray<readonly ["GET" | "POST", string]> = [
  ["POST", nativePath],
  ...routesOf(MarketDataStreamProcedures),
  ...routesOf(PublicProcedures)
]

export const ProcedureRoutes = Layer.mergeAll(
  jsonWire(MarketDataStreamProcedures).pipe(Layer.provide([MarketDataStreamLive, AdminAccessLive])),
  Layer.merge(jsonWire(PublicProcedures), NativeWire).pipe(Layer.provide([CryptoMarketDataLive, AssetsLive]))
)

/** What the public procedures ask of the domain. */
export type PublicServices = CryptoMarketData | AssetBrowsing | AssetSearch | AssetProfiles | CountryHeader
