/** What integrators find out about chains and assets before they name them in a strategy. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CursorInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"
import { fillCatalogue, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { CachedPrices } from "#test/api/support/listingFakes.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"

interface Listed {
  readonly assetId: string
  readonly symbol: string
  readonly kind: string | null
}

/** USDC of both chains is known to the catalogue, the rest to the token lists alone. */
const fill = Effect.gen(function* () {
  yield* fillCatalogue
  const assetCanonicalId = AssetCanonicalId.make("bcdeaefd-258f-4614-bcd6-8c5eea3d5720")
  yield* (yield* CatalogueStore).load({
    assets: [{ assetCanonicalId, kind: "stablecoin", symbol: "USDC", name: "USD Coin" }],
    representations: [baseUsdc, arbUsdc].map(({ assetId }, index) => ({
      caipAssetId: assetId,
      assetCanonicalId,
      issuer: index === 0 ? null : "circle",
      unitModel: "plain" as const,
      decimals: 6,
      symbol: "USDC"
    })),
    classifications: []
  })
})

const listed = Effect.fnUntraced(function* (query: string) {
  const { call } = yield* Api
  const { key } = yield* newTenant()
  const answer = yield* call("GET", `/v2/assets${query}`, { key })
  assertData(answer, 200, ["assets"])
  return answer.json.data.assets as ReadonlyArray<Listed>
})

const idsOf = (assets: ReadonlyArray<Listed>) => assets.map(({ assetId }) => assetId)

const inOrder = [...catalogue.keys()].toSorted()

layer(ApiLive, { excludeTestServices: true })("chains", (it) => {
  it.effect("every supported chain with its name, confirmations, USDC and explorer", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const answer = yield* call("GET", "/v2/chains", { key })
      assertData(answer, 200, ["chains"])
      assert.deepStrictEqual(answer.json.data.chains, [
        {
          chainId: 8453,
          name: "Base",
          status: "available",
          confirmations: 10,
          usdcAssetId: baseUsdc.assetId,
          explorerUrl: "https://basescan.org"
        },
        {
          chainId: 42161,
          name: "Arbitrum One",
          status: "available",
          confirmations: 10,
          usdcAssetId: arbUsdc.assetId,
          explorerUrl: "https://arbiscan.io"
        }
      ])
    })
  )

  it.effect("a chain whose endpoints do not answer is unavailable, and still listed", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const environment = yield* TestEnvironment
      environment.chainsDown = true
      const { json } = yield* call("GET", "/v2/chains", { key })
      environment.chainsDown = false
      assert.deepStrictEqual(
        json.data.chains.map(({ status }: { status: string }) => status),
        ["unavailable", "unavailable"]
      )
    })
  )
})

layer(ApiLive, { excludeTestServices: true })("assets", (it) => {
  it.effect("every asset comes once, by id, page after page", () =>
    Effect.gen(function* () {
      yield* fill
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const query: string = cursor === null ? "" : `&cursor=${cursor}`
        const answer = yield* call("GET", `/v2/assets?limit=2${query}`, { key })
        assertData(answer, 200, ["assets"])
        assert.isAtMost(answer.json.data.assets.length, 2)
        seen.push(...idsOf(answer.json.data.assets))
        cursor = answer.json.nextCursor
      } while (cursor !== null)
      assert.deepStrictEqual(seen, inOrder)
    })
  )

  it.effect("is found by part of its symbol or name, and by its address, in any case", () =>
    Effect.gen(function* () {
      yield* fill
      assert.sameMembers(idsOf(yield* listed("?search=usd")), [baseUsdc.assetId, arbUsdc.assetId])
      assert.deepStrictEqual(idsOf(yield* listed("?search=CBBTC")), [baseBtc.assetId])
      const address = baseWeth.assetId.slice(baseWeth.assetId.lastIndexOf(":") + 1)
      assert.deepStrictEqual(idsOf(yield* listed(`?search=${address.toUpperCase().replace("0X", "0x")}`)), [
        baseWeth.assetId
      ])
      assert.deepStrictEqual(idsOf(yield* listed(`?search=${encodeURIComponent(baseWeth.assetId)}`)), [
        baseWeth.assetId
      ])
      // A pattern of SQL is text like any other.
      assert.deepStrictEqual(yield* listed("?search=%25"), [])
      assert.deepStrictEqual(yield* listed("?search=_SDC"), [])
    })
  )

  it.effect("is listed by chain and kind, and its kind is null where the catalogue does not know it", () =>
    Effect.gen(function* () {
      yield* fill
      const onArbitrum = yield* listed("?chainId=42161")
      assert.isTrue(onArbitrum.every(({ assetId }) => assetId.startsWith("eip155:42161/")))
      assert.sameMembers(idsOf(yield* listed("?kind=stablecoin")), [baseUsdc.assetId, arbUsdc.assetId])
      assert.deepStrictEqual(idsOf(yield* listed("?kind=stablecoin&chainId=8453")), [baseUsdc.assetId])
      assert.deepStrictEqual(yield* listed("?kind=equity"), [])
      assert.isNull((yield* listed("?search=cbBTC"))[0]!.kind)
    })
  )

  it.effect("says its decimals, its price with its age, and whether runs trade it, or why not", () =>
    Effect.gen(function* () {
      yield* fill
      const prices = yield* CachedPrices
      const { advance } = yield* MovableClock
      const asOf = yield* DateTime.now
      prices.set(baseWeth.assetId, { usd: "2500.12", asOf, isStale: false })
      prices.set(baseUsdc.assetId, { usd: "1", asOf, isStale: true })
      yield* (yield* AssetStore).upsertAssets([{ ...arbUsdc, isBlocked: true }])
      advance(42_500)
      const assets = new Map((yield* listed("")).map((asset) => [asset.assetId, asset]))
      assert.deepStrictEqual<unknown>(assets.get(baseWeth.assetId), {
        assetId: baseWeth.assetId,
        chainId: 8453,
        symbol: "WETH",
        name: "WETH",
        decimals: 18,
        kind: null,
        tradability: { isTradable: true, code: null, reason: null },
        price: { usd: "2500.12", asOf: DateTime.formatIso(asOf), ageSeconds: 42 }
      })
      const codes = [baseUsdc, baseBtc, arbUsdc].map(({ assetId }) => {
        const { price, tradability } = assets.get(assetId) as any
        assert.isFalse(tradability.isTradable)
        assert.include(tradability.reason, assets.get(assetId)!.symbol)
        return [tradability.code, price?.usd ?? null]
      })
      assert.deepStrictEqual(codes, [
        ["STALE_PRICE", "1"],
        ["MISSING_PRICE", null],
        ["ASSET_BLOCKED", null]
      ])
      yield* (yield* AssetStore).upsertAssets([arbUsdc])
      prices.clear()
    })
  )

  it.effect("of a chain that is no longer served are not listed", () =>
    Effect.gen(function* () {
      yield* fill
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO assets (asset_id, chain_id, symbol, name, decimals, is_blocked, updated_at)
        VALUES ('eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 10, 'USDC', 'USD Coin', 6, false, now())`
      assert.deepStrictEqual(idsOf(yield* listed("")), inOrder)
      yield* sql`DELETE FROM assets WHERE chain_id = 10`
    })
  )

  it.effect("refuses chains that it does not serve, unknown kinds and cursors of other lists", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const refusal = (query: string) => call("GET", `/v2/assets?${query}`, { key })
      assertError(yield* refusal("chainId=10"), ValidationFailed, /chainIds: supported 8453, 42161/u)
      assertError(yield* refusal("chainId=base"), ValidationFailed, /chainId/u)
      assertError(yield* refusal("kind=coin"), ValidationFailed, /kind/u)
      assertError(yield* refusal(`search=${"a".repeat(65)}`), ValidationFailed, /search/u)
      assertError(yield* refusal("limit=0"), ValidationFailed, /limit/u)
      assertError(yield* refusal("cursor=bm90IGEgY3Vyc29y"), CursorInvalid)
    })
  )
})
