/** docs/testing.md: its test is one of these, and what it says that a test may script is so. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import * as Decimal from "#domain/values/Decimal.ts"
import { Prices } from "#domain/market/Prices.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { ServiceWithin } from "#src/service/Service.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { asTenant } from "#test/support/asTenant.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { finished, TestBallast } from "#test/support/TestBallast.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

describe("docs/testing.md", () => {
  it("its test has at most 25 lines, and is the one that runs and compiles in test/docs/rebalance.test.ts", () => {
    const [block, ...others] = [...read("docs/testing.md").matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, ts]) => ts!)
    assert.isEmpty(others)
    assert.isAtMost(block!.trimEnd().split("\n").length, 25)
    assert.strictEqual(block, read("test/docs/rebalance.test.ts"))
  })

  it("a service that is missing is an error of the compiler", () => {
    // @ts-expect-error: neither stores nor chains are given, and the type asks for nothing more.
    const incomplete: Layer.Layer<Layer.Success<typeof ServiceWithin>, unknown> = ServiceWithin
    assert.isTrue(Layer.isLayer(incomplete))
  })
})

layer(TestBallast, { excludeTestServices: true })("what a test may script", (it) => {
  it.effect("a chain that includes the next operation and reverts it", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.reverts.set(8453, 1)
      const { operationId } = yield* (yield* Rebalances).trigger(portfolioId).pipe(asTenant(tenantId))
      yield* finished({ tenantId, portfolioId, operationId })
      assert.include(
        [...market.included.values()].map(({ success }) => success),
        false
      )
    })
  )

  it.effect("prices, and a source of prices that does not answer", () =>
    Effect.gen(function* () {
      const market = yield* TestChain
      const prices = yield* Prices
      market.prices.set(baseWeth.assetId, 1_234n * Decimal.one)
      assert.strictEqual((yield* prices.latest([baseWeth.assetId])).get(baseWeth.assetId)?.usd, 1_234n * Decimal.one)
      market.arePricesKnown = false
      assert.strictEqual((yield* Effect.flip(prices.latest([baseWeth.assetId])))._tag, "PricesUnavailable")
      market.arePricesKnown = true
    })
  )

  it.effect("a chain that is away, and one that does not answer the next request", () =>
    Effect.gen(function* () {
      const { accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      const balances = yield* Balances
      const ofBase = Effect.exit(balances.read(accounts[0], [baseUsdc.assetId]))
      const ofArbitrum = Effect.exit(balances.read(accounts[1], [arbUsdc.assetId]))
      market.down.add(8453)
      assert.deepStrictEqual([(yield* ofBase)._tag, (yield* ofArbitrum)._tag], ["Failure", "Success"])
      market.down.delete(8453)
      market.drops.set(42161, 1)
      const tags = [(yield* ofArbitrum)._tag, (yield* ofArbitrum)._tag, (yield* ofBase)._tag]
      assert.deepStrictEqual(tags, ["Failure", "Success", "Success"])
    })
  )
})
