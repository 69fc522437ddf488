/** A stranger's token with a false price, in a run of the whole service. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { MarketCheckStore } from "#domain/asset/MarketCheckStore.ts"
import { TokenCheckStore } from "#domain/asset/TokenCheckStore.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { asTenant } from "#test/support/asTenant.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { finished, TestBallast } from "#test/support/TestBallast.ts"

layer(TestBallast, { excludeTestServices: true })(
  "a portfolio to which a stranger sent a token without a market",
  (it) => {
    it.effect("is traded as if it were not there", () =>
      Effect.gen(function* () {
        const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
        const market = yield* TestChain
        const { assetId, decimals } = baseBtc
        const at = yield* DateTime.now
        yield* (yield* TokenCheckStore).record(at, [{ assetId, decimals, refusal: null }])
        const none = { priceUsd: 0n, depthUsd: 0n }
        yield* (yield* MarketCheckStore).record(at, [{ assetId, decimals, market: none }])
        market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
        market.fund(accounts[0], assetId, 49_900_000_000n)
        market.prices.set(assetId, 10n ** 12n * Decimal.one)

        const { operationId } = yield* (yield* Rebalances).trigger(portfolioId).pipe(asTenant(tenantId))
        const { state } = yield* finished({ tenantId, portfolioId, operationId })
        assert.strictEqual(state, "completed")
        assert.strictEqual(market.balance(accounts[0], assetId), 49_900_000_000n, "it is kept")
        const report = JSON.stringify(Option.getOrThrow(yield* (yield* RunStore).report(operationId)))
        assert.include(report, "NO_MARKET")
        const bought = market.balance(accounts[0], baseWeth.assetId)
        // Of 10,000 dollars on the chain 60 percent, less costs.
        assert.isTrue(bought > (Decimal.one * 23n) / 10n && bought <= (Decimal.one * 24n) / 10n, `${bought}`)
        const positions = yield* (yield* PositionReader).read(portfolioId).pipe(asTenant(tenantId))
        assert.isTrue(positions.totalValueUsd <= 10_000n * Decimal.one)
      })
    )
  }
)
