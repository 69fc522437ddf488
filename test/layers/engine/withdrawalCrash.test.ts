/**
 * An engine is stopped while withdrawals stand in the middle of each of their steps, and a new one is started over the same
 * database and the same chain: of each the assets move once, and its operation completes.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import * as Decimal from "#domain/Decimal.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptWithdrawal, history, messageOf, reached, recipientOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/TestChains.ts"

const World = Layer.mergeAll(TestChains, TestSettings).pipe(
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

/** An engine over the world, until it is stopped. */
const startEngine = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.fresh(EngineLive), scope)
  return { context, stop: Scope.close(scope, Exit.void) }
})

interface Case {
  readonly step: string
  readonly liquidate: boolean
}

/** The step that signs comes last: it stops inside a transaction, and the embedded database has one connection. */
const cases: ReadonlyArray<Case> = [
  ...["prepare", "broadcast", "sent", "find", "verify"].flatMap((step) => [
    { step, liquidate: false },
    { step, liquidate: true }
  ]),
  { step: "sign", liquidate: false }
]

/** Launches a withdrawal and waits until it stands at the step, where it stays. */
const stand = Effect.fnUntraced(function* ({ liquidate, step }: Case) {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  const account = portfolio.accounts[0]
  market.fund(account, baseUsdc.assetId, 500_000_000n)
  market.fund(account, baseWeth.assetId, Decimal.one)
  const entered = yield* Deferred.make<void>()
  market.at = (now) => (now === step ? Effect.andThen(Deferred.succeed(entered, undefined), Effect.never) : Effect.void)
  const message = yield* messageOf(
    portfolio,
    account,
    liquidate ? [[baseWeth.assetId, Decimal.one]] : [[baseUsdc.assetId, 200_000_000n]],
    liquidate ? { liquidate } : {}
  )
  const operationId = yield* acceptWithdrawal(portfolio, account, message)
  const launcher = yield* OperationLauncher
  yield* launcher.launch({ operationId, kind: "withdraw" })
  yield* Deferred.await(entered)
  return { account, liquidate, operationId, portfolio, step }
})

layer(World, { excludeTestServices: true, timeout: "60 seconds" })("withdrawals whose engine is stopped", (it) => {
  it.effect(
    "at any step are carried out once by the next one",
    () =>
      Effect.gen(function* () {
        const market = yield* TestChain
        const first = yield* startEngine
        const standing = yield* Effect.forEach(cases, stand).pipe(Effect.provide(first.context))
        const recipient = recipientOf(standing[0]!.account)
        yield* first.stop
        market.at = () => Effect.void

        const second = yield* startEngine
        for (const { account, liquidate, operationId, portfolio, step } of standing) {
          const operation = yield* reached(portfolio, operationId)
          assert.strictEqual(operation.state, "completed", `${step}: ${operation.error}`)
          assert.strictEqual(market.balance(account, baseWeth.assetId), liquidate ? 0n : Decimal.one, step)
          assert.strictEqual(market.balance(account, baseUsdc.assetId), liquidate ? 500_000_000n : 300_000_000n, step)
          const events = yield* history(operationId)
          assert.deepStrictEqual(
            events.filter((event) => event === "withdrawn" || event === "completed"),
            ["withdrawn", "completed"]
          )
        }
        yield* second.stop
        assert.strictEqual(market.included.size, cases.length)
        assert.strictEqual(market.balance(recipient, baseUsdc.assetId), 6n * 200_000_000n + 5n * 2_492_500_000n)
      }),
    90_000
  )
})
