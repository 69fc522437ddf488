/**
 * All procedures of the API over its two wires: the interface's, a route for each procedure, and Effect's own RPC at `/v1/rpc`.
 * Needs the domain's services and the operator's token.
 */
import { Layer } from "effect"
import { RpcSerialization, RpcServer } from "effect/rpc"
import type { Members } from "#domain/identity/Members.ts"
import type { OwnKeys } from "#domain/identity/OwnKeys.ts"
import type { Sessions } from "#domain/identity/Sessions.ts"
import type { SignInSettings } from "#domain/identity/SignInSettings.ts"
import type { SignIns } from "#domain/identity/SignIns.ts"
import type { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import type { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import type { AssetSearch } from "#domain/listing/AssetSearch.ts"
import type { CountryHeader } from "#domain/listing/CountryHeader.ts"
import type { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { AdminAccessLive } from "#rpc/AdminAccessLive.ts"
import { ApiKeysLive } from "#rpc/ApiKeysLive.ts"
import { AssetsLive } from "#rpc/AssetsLive.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { CryptoMarketDataLive } from "#rpc/CryptoMarketDataLive.ts"
import { countedProtocol } from "#rpc/countedProtocol.ts"
import { IdentityLive } from "#rpc/IdentityLive.ts"
import { jsonWire, routesOf } from "#rpc/jsonWire.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"
import { MarketDataStreamLive } from "#rpc/MarketDataStreamLive.ts"
import { PresentedSession, SessionAccessLive } from "#rpc/SessionAccessLive.ts"

const nativePath = "/v1/rpc"
/** Calls of one request of the native wire that run at the same time. */
const concurrency = 8

const NativeWire = RpcServer.layer(ClientProcedures, {
  concurrency,
  disableFatalDefects: true,
  disableTracing: true
}).pipe(Layer.provide(countedProtocol(nativePath)), Layer.provide(RpcSerialization.layerNdjson))

/** Every route of this layer by its method and path. */
export const procedureRoutes: ReadonlyArray<readonly ["GET" | "POST", string]> = [
  ["POST", nativePath],
  ...routesOf(MarketDataStreamProcedures),
  ...routesOf(ClientProcedures)
]

const Handlers = Layer.mergeAll(CryptoMarketDataLive, AssetsLive, IdentityLive, ApiKeysLive, SessionAccessLive).pipe(
  Layer.provide(PresentedSession.layer)
)

export const ProcedureRoutes = Layer.mergeAll(
  jsonWire(MarketDataStreamProcedures).pipe(Layer.provide([MarketDataStreamLive, AdminAccessLive])),
  Layer.merge(jsonWire(ClientProcedures), NativeWire).pipe(Layer.provide(Handlers))
)

/** What the procedures of clients ask of the domain. */
export type ProcedureServices =
  | CryptoMarketData
  | AssetBrowsing
  | AssetSearch
  | AssetProfiles
  | CountryHeader
  | SignIns
  | SignInSettings
  | Sessions
  | Members
  | OwnKeys
