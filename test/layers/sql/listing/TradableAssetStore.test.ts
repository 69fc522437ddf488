import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TradableAssetStore } from "#domain/listing/TradableAssets.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"
import { eachDatabase } from "#test/support/database.ts"

const base = [baseUsdc.chainId]
const both = [baseUsdc.chainId, arbUsdc.chainId]

eachDatabase("TradableAssetStore", (it) => {
  it.effect("pages assets of the chains by id, and finds them by symbol, name, address and id", () =>
    Effect.gen(function* () {
      yield* (yield* AssetStore).upsertAssets([...catalogue.values()])
      const { list } = yield* TradableAssetStore
      const ids = (
        search: string | null,
        chainIds = both,
        {
          after = null,
          limit = 10
        }: { readonly after?: string | null | undefined; readonly limit?: number | undefined } = {}
      ) =>
        Effect.map(list({ chainIds, kind: null, search }, after, limit), (rows) => rows.map(({ assetId }) => assetId))
      const inOrder = [arbWeth, arbUsdc, baseWeth, baseUsdc, baseBtc].map(({ assetId }) => assetId).toSorted()
      assert.deepStrictEqual(yield* ids(null), inOrder)
      assert.deepStrictEqual(yield* ids(null, both, { after: inOrder[1], limit: 2 }), inOrder.slice(2, 4))
      assert.sameMembers(
        yield* ids(null, base),
        [baseUsdc, baseWeth, baseBtc].map(({ assetId }) => assetId)
      )
      assert.deepStrictEqual(yield* ids("bbt"), [baseBtc.assetId])
      assert.deepStrictEqual(yield* ids(baseUsdc.assetId.toLowerCase()), [baseUsdc.assetId])
      assert.deepStrictEqual(yield* ids(baseUsdc.assetId.split(":")[2]!.toLowerCase()), [baseUsdc.assetId])
      assert.deepStrictEqual(yield* ids("%"), [])
      assert.deepStrictEqual(yield* list({ chainIds: both, kind: "stablecoin", search: null }, null, 10), [])
    })
  )
})
