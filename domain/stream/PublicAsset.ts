/**
 * An asset that the public may follow, and the provider that has its data. Source: interface "Market-data stream
 * worker".
 */
import { Schema, SchemaTransformation } from "effect"
import { AssetClass, StreamSymbol } from "#domain/stream/Topic.ts"

export const Provider = Schema.Literals(["massive", "coingecko"])
export type Provider = typeof Provider.Type

/** The provider of each asset class. */
export const providerOf: Readonly<Record<AssetClass, Provider>> = { equity: "massive", crypto: "coingecko" }

/** A symbol in whatever case the caller wrote it. */
export const PublicSymbol = Schema.String.check(Schema.isMaxLength(20)).pipe(
  Schema.decodeTo(
    StreamSymbol,
    SchemaTransformation.transform({ decode: (text: string) => text.toUpperCase(), encode: (symbol: string) => symbol })
  )
)

/** `coingeckoId` is CoinGecko's name of the coin, without which a coin has no data. */
export const PublicAsset = Schema.Struct({
  assetClass: AssetClass,
  provider: Provider,
  symbol: PublicSymbol,
  coingeckoId: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,99}$/u)))
}).check(
  Schema.makeFilter(({ assetClass, coingeckoId, provider }) => {
    if (provider !== providerOf[assetClass]) return `provider of ${assetClass} is ${providerOf[assetClass]}`
    return provider === "coingecko" && coingeckoId === undefined ? "coingeckoId is missing" : undefined
  })
)
export type PublicAsset = typeof PublicAsset.Type

export const maxUpsert = 5_000

export const RegistryUpsert = Schema.Struct({
  assets: Schema.Array(PublicAsset).check(Schema.isMaxLength(maxUpsert))
})
