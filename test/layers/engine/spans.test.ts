/** What the spans of a run say: which operation, chain and transaction they are about. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { asTenant } from "#test/support/asTenant.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { finished, TestBallast } from "#test/support/TestBallast.ts"

const spans: Array<Tracer.Span> = []

const recording = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})

const traced = TestBallast.pipe(Layer.provideMerge(Layer.succeed(Tracer.Tracer, recording)))

layer(traced, { excludeTestServices: true })("spans of a rebalance", (it) => {
  it.effect("include operation.id all through, and chain.id and transaction.hash where they are about those", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const { operationId } = yield* (yield* Rebalances).trigger(portfolioId).pipe(asTenant(tenantId))
      yield* finished({ tenantId, portfolioId, operationId })
      const named = (pattern: RegExp) => spans.filter(({ name }) => pattern.test(name))
      const about = (pattern: RegExp, key: string) => {
        const found = named(pattern)
        assert.isNotEmpty(found, String(pattern))
        return new Set(found.map(({ attributes }) => attributes.get(key)))
      }
      for (const step of [/^OperationLauncher\.launch$/u, /^plan$/u, /^sign\//u, /^confirm\//u, /^awaitReceipt$/u])
        assert.deepStrictEqual(about(step, "operation.id"), new Set([operationId]))
      for (const step of [/^sign\/8453\//u, /^confirm\/8453\//u, /^awaitReceipt$/u, /^BundleSigner\.sign$/u])
        assert.deepStrictEqual(about(step, "chain.id"), new Set([8453]))
      const [hash, ...others] = about(/^awaitReceipt$/u, "transaction.hash")
      assert.isEmpty(others)
      assert.match(String(hash), /^0x[0-9a-f]{64}$/u)
      // Statements of the run are found by it too.
      const statements = spans.filter(
        ({ attributes }) => attributes.has("db.query.text") && attributes.get("operation.id") === operationId
      )
      assert.isNotEmpty(statements)
    })
  )
})
