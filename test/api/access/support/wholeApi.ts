/** REST, procedures and tools on one real server, with all that reads or changes what belongs to somebody. */
import { Effect, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import { ChainId, evmWallet } from "#domain/values/Caip.ts"
import { Members } from "#domain/identity/Members.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { OwnKeys } from "#domain/identity/OwnKeys.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { SignInVerifier } from "#domain/identity/SignInVerifier.ts"
import { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { CountryHeader } from "#domain/listing/CountryHeader.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { MarketDataStream } from "#domain/stream/MarketDataStream.ts"
import { Issuer, IssuerSilent, IssuerTerms } from "#domain/trading/Issuer.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { ProcedureRoutes } from "#rpc/Procedures.ts"
import { socketPlatform } from "#src/service/socketPlatform.ts"
import { adminToken, ownOrigin } from "#test/api/support/Api.ts"
import { streamingApi } from "#test/api/support/StreamingApi.ts"
import { TestStores } from "#test/support/database.ts"

const unused = () => {
  throw new Error("What is for everybody is not asked here")
}

/** What answers everybody the same. */
const ForEverybody = Layer.mergeAll(
  Layer.mock(AssetBrowsing, {
    browseAssets: unused,
    stockSnapshot: unused,
    browseStocks: unused,
    browseStocksForSelection: unused,
    stockHighlights: unused
  }),
  Layer.mock(AssetProfiles, { overlays: unused }),
  Layer.mock(AssetSearch, { forCommandPalette: unused, forTokens: unused }),
  Layer.mock(CryptoMarketData, {}),
  Layer.mock(MarketDataStream, {}),
  Layer.succeed(CountryHeader, { country: null, region: null }),
  socketPlatform
)

/** Whoever a sign-in message names has signed it. */
const Verifier = Layer.succeed(SignInVerifier, { signerOf: ({ address }) => Effect.succeed(evmWallet(address)) })

const People = Layer.mergeAll(Members.layer, OwnKeys.layer, SignIns.layer).pipe(
  Layer.provide(Verifier),
  Layer.provide(Layer.succeed(SignInSettings, { origins: [ownOrigin], chainIds: [ChainId.make(8453)] })),
  Layer.provide(KeyHashLive),
  Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper of the nonces of these tests") }))
)

const Owners = Orders.layer.pipe(
  Layer.provideMerge(IssuerQuotes.layer),
  Layer.provide([
    Layer.mock(Issuer, { quote: () => Effect.fail(new IssuerSilent({ reason: "the issuer is closed" })) }),
    Layer.succeed(IssuerTerms, { isOffered: true, deviationBps: 100 })
  ]),
  Layer.provide(Digest.layerWebCrypto)
)

export const wholeApiOn = (stores: typeof TestStores) =>
  streamingApi(
    {},
    ProcedureRoutes.pipe(
      Layer.provide([ForEverybody, People, Owners, OperatorToken.layer(Redacted.make(adminToken))]),
      Layer.provide(Layer.succeed(SignInSettings, { origins: [ownOrigin], chainIds: [ChainId.make(8453)] })),
      Layer.provide(SecureRandom.layerWebCrypto)
    ),
    { stores }
  )

export const wholeApi = wholeApiOn(TestStores)
