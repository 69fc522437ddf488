import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { type ChainId, erc20 } from "#domain/values/Caip.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { arbitrum, newAddress } from "#test/layers/sql/fixtures.ts"

const asset = (chainId: ChainId, changes: Partial<Asset> = {}): Asset => ({
  assetId: erc20(chainId, newAddress()),
  chainId,
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6,
  isBlocked: false,
  ...changes
})

eachDatabase("AssetStore", (it) => {
  it.effect("finds the known ones of the assets that are asked for", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const known = asset(11_297_108_109 as ChainId, { decimals: 255 })
      yield* (yield* AssetStore).upsertAssets([known])
      const found = yield* assets.find([known.assetId, known.assetId, asset(arbitrum).assetId])
      assert.deepStrictEqual([...found], [[known.assetId, known]])
      assert.strictEqual((yield* assets.find([])).size, 0)
    })
  )

  it.effect("replaces what is known of an asset; the last of several entries counts", () =>
    Effect.gen(function* () {
      const store = yield* AssetStore
      const first = asset(arbitrum)
      yield* store.upsertAssets([first, asset(11_297_108_109 as ChainId)])
      const renamed = { ...first, symbol: "USDC.e", isBlocked: true }
      yield* store.upsertAssets([{ ...first, symbol: "wrong" }, renamed])
      assert.deepStrictEqual((yield* store.find([first.assetId])).get(first.assetId), renamed)
    })
  )

  it.effect("lists a chain by id, and takes an empty list", () =>
    Effect.gen(function* () {
      const store = yield* AssetStore
      const chainId = 424_242 as ChainId
      const listed = [asset(chainId), asset(chainId), asset(chainId)]
      yield* store.upsertAssets([listed[2]!, listed[0]!, listed[1]!])
      yield* store.upsertAssets([])
      const ids = listed.map((each) => each.assetId).sort()
      assert.deepStrictEqual(
        (yield* store.onChain(chainId)).map((each) => each.assetId),
        ids
      )
      assert.deepStrictEqual(yield* store.onChain(1 as ChainId), [])
    })
  )

  it.effect("takes a token list of thousands at once", () =>
    Effect.gen(function* () {
      const store = yield* AssetStore
      const chainId = 515_151 as ChainId
      yield* store.upsertAssets(Array.from({ length: 5_000 }, () => asset(chainId)))
      assert.strictEqual((yield* store.onChain(chainId)).length, 5_000)
    })
  )
})
