/** The snapshot of listed tokens: its order against a sort of its own, and what goes on while it is made. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as FastCheck from "fast-check"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import { makeSnapshot, sliceSize } from "#domain/listing/AssetSnapshot.ts"
import { makeListings } from "#domain/listing/Listing.ts"
import { makeMarketView, type MarketView } from "#domain/listing/MarketView.ts"

const nothingFetched = makeMarketView({ get: () => undefined, revision: () => 0, load: Effect.void }, [], 0)
const viewWith = (caps: ReadonlyMap<string, number>): MarketView => ({
  ...nothingFetched,
  capOf: ({ assetId }) => caps.get(assetId) ?? null
})

const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`
const listingsOf = (symbols: ReadonlyArray<string>) =>
  makeListings(
    symbols.map((symbol, n): ListedAsset => ({
      caipAssetId: `eip155:1/erc20:${addressOf(n)}` as ListedAsset["caipAssetId"],
      symbol,
      name: `Token ${symbol}`,
      decimals: 18,
      issuer: n % 3 === 0 ? "ondo" : null,
      unitModel: null,
      subject: null,
      categories: []
    })),
    { coinIdOf: () => undefined, coinIds: [], homeOf: () => undefined },
    { version: "none", of: () => undefined }
  )

/** Turns of the event loop until an effect is done: what others could do meanwhile. */
const turnsDuring = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const value = yield* Fiber.join(yield* Effect.forkChild(effect))
    isOver = true
    return { turns, value }
  })

describe("AssetSnapshot", () => {
  it("ranks by capitalisation, then symbol, whatever the order before, and finds each token by its places", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.tuple(FastCheck.constantFrom("A", "B", "C"), FastCheck.constantFrom(null, 1, 5, 9)), {
          maxLength: 30
        }),
        FastCheck.array(FastCheck.constantFrom(null, 2, 7), { minLength: 30, maxLength: 30 }),
        (tokens, later) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const listings = listingsOf(tokens.map(([symbol]) => symbol))
              const capsOf = (values: ReadonlyArray<number | null>) =>
                new Map(listings.flatMap(({ assetId }, n) => (values[n] === null ? [] : [[assetId, values[n]!]])))
              const [first, second] = [capsOf(tokens.map(([, cap]) => cap)), capsOf(later)]
              let snapshot = yield* makeSnapshot(listings, viewWith(first))
              snapshot = yield* makeSnapshot(snapshot.ranked, viewWith(second), snapshot)
              const expected = listings.toSorted((a, b) => {
                const byCap = (second.get(b.assetId) ?? -1) - (second.get(a.assetId) ?? -1)
                return byCap || a.asset.symbol.localeCompare(b.asset.symbol) || (a.assetId < b.assetId ? -1 : 1)
              })
              assert.deepStrictEqual(snapshot.ranked, expected)
              assert.strictEqual(snapshot.byId.size, listings.length)
              for (const symbol of ["A", "B", "C"]) {
                assert.deepStrictEqual(
                  [...snapshot.text.find(symbol)].map((place) => snapshot.ranked[place]!.asset.symbol),
                  expected.filter(({ asset }) => asset.symbol === symbol).map(() => symbol)
                )
              }
              assert.deepStrictEqual(
                snapshot.byIssuer.get("ondo") ?? [],
                expected.filter(({ asset }) => asset.issuer === "ondo")
              )
            })
          )
      ),
      { numRuns: 50 }
    ))

  it.live("requests go on while 20,000 tokens are ranked: each slice is one turn", () =>
    Effect.gen(function* () {
      const listings = listingsOf(Array.from({ length: 20_000 }, (_, n) => `S${n}`))
      const slices = listings.length / sliceSize
      const { turns, value } = yield* turnsDuring(makeSnapshot(listings, nothingFetched))
      // Ranking, grouping and tags are each a pass of their own.
      assert.isAtLeast(turns, 3 * slices)
      assert.lengthOf(value.ranked, listings.length)
    })
  )

  it.live("while the order stays, groups and texts of the last snapshot are kept, and its market data is not", () =>
    Effect.gen(function* () {
      const listings = listingsOf(["A", "B", "C"])
      const [a, , c] = listings
      const before = yield* makeSnapshot(listings, viewWith(new Map([[a!.assetId, 9]])))
      const same = yield* makeSnapshot(before.ranked, viewWith(new Map([[a!.assetId, 8]])), before)
      assert.strictEqual(same.text, before.text)
      assert.strictEqual(same.byId, before.byId)
      assert.notStrictEqual(same.view, before.view)
      assert.notStrictEqual(same.itemOf(a!), before.itemOf(a!))
      const other = yield* makeSnapshot(same.ranked, viewWith(new Map([[c!.assetId, 9]])), same)
      assert.deepStrictEqual(
        other.ranked.map(({ asset }) => asset.symbol),
        ["C", "A", "B"]
      )
      assert.notStrictEqual(other.text, before.text)
    })
  )
})
