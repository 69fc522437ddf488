/**
 * Which assets clients follow, here and on all workers. An asset stays followed for a while after the last client has
 * gone, so that one that comes back finds no gap. A request for a ticket or a snapshot counts as following.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { StreamAssetKey } from "#domain/stream/Topic.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { Hub } from "#stream/Hub.ts"

export class Demand extends Context.Service<
  Demand,
  {
    /** A client is about to follow these assets. */
    readonly expect: (assets: ReadonlyArray<StreamAssetKey>) => void
    /** What this worker's clients follow now. */
    readonly wanted: () => ReadonlyArray<StreamAssetKey>
  }
>()("ballast/stream/Demand") {
  static readonly layer = Layer.effect(
    Demand,
    Effect.gen(function* () {
      const hub = yield* Hub
      const clock = yield* Clock.Clock
      const { lingerMs } = yield* WorkerSettings
      const lastWanted = new Map<StreamAssetKey, number>()
      const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

      const expect = (assets: ReadonlyArray<StreamAssetKey>) => {
        for (const asset of assets) lastWanted.set(asset, now())
      }
      const wanted = () => {
        for (const { assets } of hub.topics()) expect(assets)
        for (const [asset, at] of lastWanted) if (now() - at > lingerMs) lastWanted.delete(asset)
        return [...lastWanted.keys()]
      }
      return Demand.of({ expect, wanted })
    })
  )
}
