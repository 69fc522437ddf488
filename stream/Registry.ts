/** The assets that the public may follow, the same on all workers of a deployment. */
import { Context, Effect, Layer, Schema } from "effect"
import { Backplane, type BackplaneUnavailable, type SharedEntry } from "#domain/stream/Backplane.ts"
import { PublicAsset } from "#domain/stream/PublicAsset.ts"
import type { StreamRefusal } from "#domain/stream/SocketGate.ts"
import { type AssetClass, type StreamAssetKey, assetKey } from "#domain/stream/Topic.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { follow } from "#stream/follow.ts"
import { registryFull } from "#stream/refusals.ts"

const prefix = "asset."
const Entry = Schema.fromJsonString(PublicAsset)
const decode = Schema.decodeUnknownOption(Entry)
const encode = Schema.encodeSync(Entry)

export class Registry extends Context.Service<
  Registry,
  {
    readonly find: (asset: StreamAssetKey) => PublicAsset | undefined
    readonly has: (assetClass: AssetClass, symbol: string) => boolean
    readonly all: () => ReadonlyArray<PublicAsset>
    readonly upsert: (assets: ReadonlyArray<PublicAsset>) => Effect.Effect<void, StreamRefusal | BackplaneUnavailable>
  }
>()("ballast/stream/Registry") {
  static readonly layer = Layer.effect(
    Registry,
    Effect.gen(function* () {
      const backplane = yield* Backplane
      const { maxAssets } = yield* WorkerSettings
      const assets = new Map<StreamAssetKey, PublicAsset>()
      const keyOf = ({ assetClass, symbol }: PublicAsset) => assetKey(assetClass, symbol)

      const take = (value: string) => {
        const asset = decode(value)
        if (asset._tag === "Some") assets.set(keyOf(asset.value), asset.value)
      }
      const takeAll = (entries: ReadonlyArray<SharedEntry>) =>
        Effect.sync(() => {
          for (const { key, value } of entries) if (key.startsWith(prefix)) take(value)
        })
      yield* follow(backplane.shared, takeAll, { complaint: "Public assets could not be read", level: "Warn" })

      const upsert = Effect.fn("Registry.upsert")(function* (given: ReadonlyArray<PublicAsset>) {
        const isNews = (asset: PublicAsset) => {
          const known = assets.get(keyOf(asset))
          return known === undefined || encode(known) !== encode(asset)
        }
        const news = given.filter(isNews)
        const grown = new Set([...assets.keys(), ...news.map(keyOf)])
        if (grown.size > maxAssets) return yield* registryFull(maxAssets)
        yield* backplane.share(
          news.map((asset) => ({ key: `${prefix}${asset.assetClass}.${asset.symbol}`, value: encode(asset) }))
        )
        for (const asset of news) assets.set(keyOf(asset), asset)
      })

      return Registry.of({
        find: (asset) => assets.get(asset),
        has: (assetClass, symbol) => assets.has(assetKey(assetClass, symbol)),
        all: () => [...assets.values()],
        upsert
      })
    })
  )
}
