/** Markets of tokens as the pools of a chain have them, and a token with a false price and no pool. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { type Asset, unbackedValue } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { chainIdOf as chainIdOfAsset, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { TokenChecks } from "#domain/asset/TokenChecks.ts"
import { Prices } from "#domain/market/Prices.ts"
import { MarketChecks } from "#domain/trading/MarketChecks.ts"
import { toViem as viemAddress } from "#layers/evm/address.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { catalog, type Token } from "#sandbox/assets/catalog.ts"
import { asset, chainIdOf, EvmWorld, EvmWorldLive, token } from "#test/layers/evm/EvmWorld.ts"
import { TestStores } from "#test/support/database.ts"
import { testSettingsWith } from "#test/support/settings.ts"

const priced = catalog.flatMap(({ tokens }) => tokens)

const CataloguePrices = Layer.succeed(Prices, {
  latest: (assetIds) =>
    Effect.map(
      DateTime.now,
      (asOf) =>
        new Map(
          assetIds.flatMap((assetId) => {
            const found = priced.find((one) => one.assetId === assetId)
            return found === undefined ? [] : [[assetId, { usd: found.initialPriceUsd, asOf }] as const]
          })
        )
    )
})

const World = Layer.merge(MarketChecks.layer, TokenChecks.layer).pipe(
  Layer.provide([
    CataloguePrices,
    FamiliesLive,
    testSettingsWith({ natives: new Map(catalog.map(({ weth }) => [chainIdOfAsset(weth.assetId), weth.assetId])) })
  ]),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(EvmWorldLive)
)

const listedAs = ({ assetId, decimals, name, symbol }: Token): Asset => ({
  assetId,
  chainId: chainIdOfAsset(assetId),
  symbol,
  name,
  decimals,
  isBlocked: false
})

layer(World, { excludeTestServices: true })("markets of a chain", (it) => {
  it.effect("are what its pools pay and hold; a token without a pool is worth nothing by whatever price", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      // A token as any other, whose list is right: nobody made a pool for it.
      const address = Eip55.checksum(`0x${"0dd".repeat(13)}0`) as EvmAddress
      const bytecode = yield* Effect.promise(() => base.client.getCode({ address: viemAddress(token(base, "USDC")) }))
      yield* Effect.promise(() => base.client.setCode({ address: viemAddress(address), bytecode: bytecode! }))
      const odd = { ...listedAs(base.catalog.usdc), assetId: erc20(chainIdOf(base), address), decimals: 0 }
      yield* (yield* AssetStore).upsertAssets([...base.tokens.map(listedAs), odd])
      yield* (yield* TokenChecks).pass
      yield* (yield* MarketChecks).pass

      const known = new Map((yield* (yield* Assets).onChain(chainIdOf(base))).map((one) => [one.assetId, one]))
      for (const { assetId, initialPriceUsd: usd, symbol } of base.tokens) {
        const { decimals, market } = known.get(assetId)!
        if (symbol === "USDC" || symbol === "WETH") {
          assert.isUndefined(market, `${symbol} is what others are sold for`)
          continue
        }
        const { depthUsd, priceUsd } = market!
        // Each side of a pool holds twenty million dollars, of which a sale brings nearly all.
        assert.isTrue(depthUsd > 19_000_000n * Decimal.one && depthUsd < 41_000_000n * Decimal.one, symbol)
        assert.isTrue(priceUsd > (usd * 98n) / 100n && priceUsd < (usd * 102n) / 100n, symbol)
        assert.isUndefined(unbackedValue({ decimals, market: market! }, 1_000n * 10n ** BigInt(decimals), usd), symbol)
      }
      assert.deepInclude(known.get(odd.assetId)!, { isBlocked: false, market: { priceUsd: 0n, depthUsd: 0n } })
      assert.deepStrictEqual(unbackedValue(known.get(odd.assetId)!, 499n, 10n ** 12n * Decimal.one), {
        valueUsd: 499n * 10n ** 12n * Decimal.one,
        paidUsd: 0n
      })
      assert.strictEqual(known.get(asset(base, "USDC"))!.isBlocked, false)
    })
  )
})
