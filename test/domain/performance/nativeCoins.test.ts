/** The native coin in valuations: it comes and goes as a cash flow, and a change of its price is a return. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import {
  alone,
  dollars,
  nextPass,
  summary,
  usdc,
  usdcRaw,
  Valuers,
  weth,
  wethRaw
} from "#test/domain/performance/valuedWorld.ts"

layer(Valuers, { excludeTestServices: true })("native coins in valuations", (it) => {
  it.effect("a deposit is a flow, a change of its price a return, and a withdrawal a flow", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId } = yield* alone
      hold(onBase, usdc, usdcRaw(2000))
      yield* nextPass
      ledger.coins.set(onBase, wethRaw)
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(4000), dollars(4000), Decimal.one])
      ledger.prices.set(weth, dollars(3000))
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(5000), dollars(4000), (dollars(1) * 5n) / 4n])
      ledger.coins.set(onBase, wethRaw / 2n)
      ledger.block += 10n
      assert.isTrue(yield* (yield* PortfolioValuer).value(portfolioId))
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(3500), dollars(2500), (dollars(1) * 5n) / 4n])
    })
  )

  it.effect("without a price of now it is waited for, as for any other asset that is held", () =>
    Effect.gen(function* () {
      const { ledger, onBase, portfolioId } = yield* alone
      ledger.coins.set(onBase, wethRaw)
      yield* nextPass
      ledger.prices.delete(weth)
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(2000), dollars(2000), Decimal.one])
    })
  )

  it.effect("is kept beside the tokens, which processes of the release before read alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { hold, ledger, onBase, portfolioId } = yield* alone
      hold(onBase, usdc, usdcRaw(1))
      ledger.coins.set(onBase, wethRaw)
      yield* nextPass
      const [row] = yield* sql<{ readonly held: unknown; readonly coin: unknown }>`
        SELECT account -> 'holdings' AS held, account -> 'native' ->> 'assetId' AS coin
        FROM portfolio_snapshots s CROSS JOIN jsonb_array_elements(s.accounts) AS account
        WHERE s.portfolio_id = ${portfolioId} AND account ->> 'accountId' = ${onBase}`
      assert.deepStrictEqual(JSON.stringify(row!.held).match(/slip44/gu), null)
      assert.strictEqual(row!.coin, nativeCoinOn(chainIdOf(onBase))!.assetId)
    })
  )
})
