/** REST and procedures on one real server, with executions whole and every other procedure left out. */
import { Effect, Layer, type LogLevel } from "effect"
import { SecureRandom } from "effect/crypto"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import { Members } from "#domain/identity/Members.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { OwnKeys } from "#domain/identity/OwnKeys.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { CountryHeader } from "#domain/listing/CountryHeader.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { MarketDataStream } from "#domain/stream/MarketDataStream.ts"
import type { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { addEnvelope } from "#http/envelopeTable.ts"
import { addRoute } from "#http/serving/routeTable.ts"
import { procedureEnvelope } from "#rpc/jsonWire.ts"
import { belowProcedures, procedureRoutes, ProcedureRoutes } from "#rpc/Procedures.ts"
import { unlimited } from "#test/api/support/Api.ts"
import { streamingApi } from "#test/api/support/StreamingApi.ts"
import { socketPlatform } from "#src/service/socketPlatform.ts"

const unused = () => {
  throw new Error("No test of executions asks for this")
}

const Unused = Layer.mergeAll(
  Layer.mock(Orders, {}),
  Layer.mock(IssuerQuotes, {}),
  Layer.mock(AssetBrowsing, {
    browseAssets: unused,
    stockSnapshot: unused,
    browseStocks: unused,
    browseStocksForSelection: unused,
    stockHighlights: unused
  }),
  Layer.mock(AssetProfiles, { overlays: unused }),
  Layer.mock(AssetSearch, { forCommandPalette: unused, forTokens: unused }),
  Layer.mock(MarketDataStream, {}),
  Layer.mock(Members, { list: Effect.succeed([]) }),
  Layer.mock(OwnKeys, {}),
  Layer.mock(SignIns, {}),
  Layer.succeed(SignInSettings, { origins: [], chainIds: [] }),
  Layer.succeed(CountryHeader, { country: null, region: null }),
  OperatorToken.layer(null),
  socketPlatform
)

for (const route of procedureRoutes) addRoute(...route)
addEnvelope(belowProcedures, procedureEnvelope)

/** Serves the API with a market of coins of the test's own. */
export const executionsApiWith =
  (market: Layer.Layer<CryptoMarketData>) =>
  (timing: Partial<typeof StreamTiming.Service> = {}, limits = unlimited, level: LogLevel.LogLevel = "Warn") =>
    streamingApi(
      timing,
      ProcedureRoutes.pipe(Layer.provide([Unused, market]), Layer.provide(SecureRandom.layerWebCrypto)),
      { limits, level }
    )

export const executionsApi = executionsApiWith(Layer.mock(CryptoMarketData, {}))
