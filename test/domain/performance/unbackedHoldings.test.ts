/** What a stranger sends counts for nothing where no market backs it, and comes and goes as cash where one does. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { MarketCheckStore } from "#domain/asset/MarketCheckStore.ts"
import { TokenCheckStore } from "#domain/asset/TokenCheckStore.ts"
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
import { baseBtc, baseWeth } from "#test/support/assets.ts"

const btc = baseBtc.assetId

/** The venues give so many dollars for a token of both, and have so many. */
const backed = Effect.fnUntraced(function* (priceUsd: bigint, depthUsd: bigint) {
  const at = yield* DateTime.now
  const market = { priceUsd, depthUsd }
  const tokens = [baseBtc, baseWeth].map(({ assetId, decimals }) => ({ assetId, decimals }))
  yield* (yield* TokenCheckStore).record(
    at,
    tokens.map((token) => ({ ...token, refusal: null }))
  )
  yield* (yield* MarketCheckStore).record(
    at,
    tokens.map((token) => ({ ...token, market }))
  )
})

layer(Valuers, { excludeTestServices: true })("holdings that nobody asked for", (it) => {
  it.effect("are worth what a market backs, and what the strategy names is worth its price", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId } = yield* alone
      const valuer = yield* PortfolioValuer
      ledger.prices.set(btc, dollars(499_000_000))
      yield* backed(0n, 0n)
      hold(onBase, usdc, usdcRaw(500))
      hold(onBase, weth, wethRaw)
      hold(onBase, btc, 100_000_000n)
      yield* nextPass
      const invested = [dollars(2500), dollars(2500), Decimal.one] as const
      assert.deepStrictEqual(yield* summary(portfolioId), invested, "WETH is a target, BTC is not")
      ledger.block += 1n
      assert.isTrue(yield* valuer.value(portfolioId))
      assert.deepStrictEqual(yield* summary(portfolioId), invested, "a run values alike")

      ledger.prices.set(btc, dollars(1000))
      yield* backed(dollars(1000), dollars(1_000_000))
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(3500), dollars(3500), Decimal.one])
      yield* backed(0n, 0n)
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), invested)
    })
  )
})
