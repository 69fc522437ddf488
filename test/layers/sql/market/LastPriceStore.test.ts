import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { LastPriceStore } from "#domain/market/LastPriceStore.ts"
import type { Price } from "#domain/market/Prices.ts"
import { after, noon, usdc, weth } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

const empty = Effect.gen(function* () {
  yield* (yield* SqlClient.SqlClient)`TRUNCATE last_prices`
  return yield* LastPriceStore
})
const price = (usd: bigint, millis = 0): Price => ({ usd, asOf: after(millis), source: "coingecko" })

eachDatabase("LastPriceStore", (it) => {
  it.effect("keeps the newest price of an asset, to its last decimal place and with its dispute", () =>
    Effect.gen(function* () {
      const store = yield* empty
      const disputed = { ...price(2_500_000_000_000_000_000_001n), disputedBy: { source: "lifi", usd: 7n } }
      yield* store.keep(new Map([[weth, disputed]]), noon)
      yield* store.keep(new Map([[weth, price(1n, -1)]]), after(5))
      assert.deepStrictEqual([...(yield* store.read([weth, usdc]))], [[weth, disputed]])
      yield* store.keep(new Map([[weth, price(1n, 1)]]), after(5))
      assert.deepStrictEqual([...(yield* store.read([weth]))], [[weth, price(1n, 1)]])
    })
  )

  it.effect("knows what is not listed, which replaces no price, and takes one that cannot be right for none", () =>
    Effect.gen(function* () {
      const store = yield* empty
      yield* store.keep(
        new Map([
          [weth, price(5n)],
          [usdc, null]
        ]),
        noon
      )
      yield* store.keep(
        new Map([
          [weth, null],
          [usdc, price(10n ** 60n, 9)]
        ]),
        after(9)
      )
      const found = yield* store.read([weth, usdc])
      assert.deepStrictEqual([found.get(weth), found.get(usdc)], [price(5n), null])
      yield* store.keep(new Map([[usdc, price(3n)]]), after(10))
      assert.deepStrictEqual((yield* store.read([usdc])).get(usdc), price(3n))
    })
  )
})
