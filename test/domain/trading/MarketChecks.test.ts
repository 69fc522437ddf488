/** What is read of markets: their price and depth, what is left out, and who is no witness. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Asset, unbackedValue } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { type AssetId, ChainId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import { Prices } from "#domain/market/Prices.ts"
import { MarketChecks } from "#domain/trading/MarketChecks.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { testSettingsWith } from "#test/support/settings.ts"

const base = ChainId.make(8453)
const btc = baseBtc.assetId

/** Reserves of pools with USDC: of the token, and of USDC. */
const pools = new Map<AssetId, readonly [bigint, bigint]>()
let asked = 0
let isDown = false
let arePricesOld = false

const VenueFake = Layer.mock(Venue, {
  assumedFeeBps: () => 30,
  quote: ({ chainId, requests }) => {
    asked += 1
    if (isDown) return Effect.fail(new ChainUnavailable({ chainId, reason: "down" }))
    return Effect.succeed(
      requests.map(({ buy, sell, sellAmountRaw }) => {
        const pool = buy === baseUsdc.assetId ? pools.get(sell) : undefined
        if (pool === undefined) return null
        const buyAmountRaw = (sellAmountRaw * pool[1]) / (pool[0] + sellAmountRaw)
        const execution = assumedExecution({ sell, buy })
        return buyAmountRaw === 0n
          ? null
          : { buyAmountRaw, execution, priceImpactBps: 0, feeRaw: null, furtherFeeBps: 0 }
      })
    )
  }
})

const PricesFake = Layer.succeed(Prices, {
  latest: (assetIds) =>
    Effect.map(DateTime.now, (now) => {
      const asOf = DateTime.subtract(now, { minutes: arePricesOld ? 60 : 0 })
      return new Map(assetIds.map((assetId) => [assetId, { usd: Decimal.one, asOf }]))
    })
})

const decimals = new Map([baseUsdc, baseWeth, baseBtc].map((one) => [one.assetId, one.decimals]))

const World = Layer.merge(MarketChecks.layer, TokenChecks.layer).pipe(
  Layer.provide([
    VenueFake,
    PricesFake,
    FamiliesLive,
    Layer.succeed(Chains, { supported: [base] }),
    Layer.mock(TokenReader, { decimals: () => Effect.succeed(decimals) }),
    testSettingsWith({ natives: new Map([[base, baseWeth.assetId]]) })
  ]),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(MovableClock.layer)
)

/** What is known of BTC once everything that is due was read. */
const judged = Effect.gen(function* () {
  yield* (yield* TokenChecks).pass
  yield* (yield* MarketChecks).pass
  return (yield* (yield* Assets).find([btc])).get(btc)!
})

const later = Effect.map(MovableClock, (clock) => clock.advance(15 * 60_000))

const worth = (asset: Asset, whole: bigint, priceUsd: bigint) => {
  const unbacked = unbackedValue(asset, whole * 10n ** 8n, priceUsd * Decimal.one)
  return unbacked === undefined ? "backed" : Decimal.format(unbacked.paidUsd, 2)
}

describe("markets of listed tokens", () => {
  it.live("are their price and what they hold, read anew, and left as they were where nobody can know", () =>
    Effect.gen(function* () {
      const store = yield* AssetStore
      const sql = yield* SqlClient.SqlClient
      yield* store.upsertAssets([baseUsdc, baseWeth, baseBtc])
      // Of 100 WETH and 10 BTC, both at a thousand dollars.
      pools.set(baseWeth.assetId, [100n * Decimal.one, 100_000_000_000n])
      pools.set(btc, [1_000_000_000n, 10_000_000_000n])

      isDown = true
      assert.isUndefined((yield* judged).market, "a node that is down says nothing")
      isDown = false
      arePricesOld = true
      assert.isUndefined((yield* judged).market, "dollars without a price of now measure nothing")
      arePricesOld = false

      const known = yield* judged
      assert.isTrue(known.market!.depthUsd > 9_999n * Decimal.one && known.market!.depthUsd < 10_000n * Decimal.one)
      assert.isTrue(known.market!.priceUsd > 999n * Decimal.one && known.market!.priceUsd <= 1_000n * Decimal.one)
      assert.strictEqual(worth(known, 90n, 1_000n), "backed", "a tenth of 90,000 dollars is there")
      assert.strictEqual(worth(known, 101n, 1_000n), "9999.99")
      assert.strictEqual(worth(known, 1n, 9_000n), "backed")
      assert.strictEqual(worth(known, 1n, 1_000_000_000n), "999.99", "a false price counts for nothing")
      const others = yield* (yield* Assets).find([baseUsdc.assetId, baseWeth.assetId])
      assert.isTrue(
        [...others.values()].every(({ market }) => market === undefined),
        "what others are sold for is money"
      )

      const before = asked
      yield* judged
      assert.strictEqual(asked, before, "nothing is due")
      pools.delete(btc)
      yield* later
      assert.strictEqual(worth(yield* judged, 1n, 1n), "0.00", "its pool is gone")
      pools.clear()
      yield* later
      assert.isDefined((yield* judged).market, "a node without any market is no witness")
      assert.isAbove(asked, before + 1)

      yield* sql`INSERT INTO canonical_assets (asset_canonical_id, kind, symbol, name)
        VALUES ('00000000-0000-4000-8000-000000000001', 'equity', 'B', 'B')`
      yield* sql`INSERT INTO asset_representations
        (caip_asset_id, asset_canonical_id, issuer, unit_model, decimals, symbol)
        VALUES (${btc}, '00000000-0000-4000-8000-000000000001', 'ondo', 'plain', 8, 'B')`
      assert.isUndefined((yield* judged).market, "an issuer takes its tokens back")

      yield* sql`DELETE FROM asset_representations`
      pools.set(btc, [1_000_000_000n, 10_000_000_000n])
      yield* later
      assert.isDefined((yield* judged).market)
      yield* store.upsertAssets([{ ...baseBtc, name: "another" }])
      assert.isUndefined((yield* (yield* Assets).find([btc])).get(btc)!.market, "an entry that changed is read anew")
    }).pipe(Effect.provide(World))
  )
})
