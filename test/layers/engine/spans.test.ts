/** What the spans of a run say: which operation, chain and transaction they are about. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, Schedule, Tracer } from "effect"
import type { ApiKeyId } from "#domain/Ids.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import type { Scope } from "#domain/Scopes.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { patience } from "#test/support/suite/patience.ts"

const spans: Array<Tracer.Span> = []

const recording = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})

const Engine = Layer.mergeAll(Layer.provide(Rebalances.layer, DryRunLive), SchedulerLive).pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer),
  Layer.provideMerge(Layer.succeed(Tracer.Tracer, recording))
)

layer(Engine, { excludeTestServices: true })("spans of a rebalance", (it) => {
  it.effect("carry operation.id all through, and chain.id and transaction.hash where they are about those", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const { operationId } = yield* Effect.flatMap(Rebalances, (rebalances) => rebalances.trigger(portfolioId)).pipe(
        Effect.provideService(Caller, {
          tenantId,
          tenantName: "",
          tenantEmail: "",
          entitlements: new Set<string>(),
          apiKeyId: "key_01J00000000000000000000000" as ApiKeyId,
          scopes: new Set<Scope>()
        })
      )
      const store = yield* OperationStore
      yield* store.find(tenantId, portfolioId, operationId).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.filterOrFail(({ state }) => isTerminal(state)),
        Effect.retry(Schedule.spaced("50 millis")),
        Effect.timeout(patience)
      )
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
