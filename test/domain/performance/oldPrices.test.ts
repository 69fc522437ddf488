import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
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

layer(Valuers, { excludeTestServices: true })("old and missing prices", (it) => {
  it.effect("values nothing by old prices, and a price that was missing makes no cash flow", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId } = yield* alone
      hold(onBase, usdc, usdcRaw(500))
      hold(onBase, weth, wethRaw)
      yield* nextPass
      const flows = (yield* summary(portfolioId))[1]
      assert.strictEqual(flows, dollars(2500))
      ledger.prices.delete(weth)
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      ledger.prices.set(weth, dollars(1000))
      ledger.pricesAsOf = yield* DateTime.now
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 }, "an hour old is no price of now")
      const valuer = yield* PortfolioValuer
      assert.isFalse(yield* valuer.value(portfolioId), "nor for a run")
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(2500), flows, Decimal.one])
      ledger.pricesAsOf = undefined
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 0 })
      const [value, allFlows, growth] = yield* summary(portfolioId)
      assert.deepStrictEqual([value, allFlows, growth], [dollars(1500), flows, (Decimal.one * 6n) / 10n])
    })
  )
})
