/** Runs that wait for a new signature of the owner, over embedded PostgreSQL and a market in memory. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Duration, Effect, Exit, Layer, Option, Schedule, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import type { OperationState } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { StepStore } from "#domain/operation/StepStore.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { claimDue } from "#test/layers/sql/fixtures.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { testSettings, TestSettings, testSettingsWith } from "#test/support/settings.ts"
import { signAnew } from "#test/support/signAnew.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { SignatureRequestTiming } from "#domain/rebalance/SignatureRequests.ts"
import { patience } from "#test/support/suite/patience.ts"

const Timing = Layer.succeed(SignatureRequestTiming, { first: Duration.millis(20), max: Duration.millis(40) })

const World = Layer.mergeAll(TestChains, Timing).pipe(
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const Patient = Layer.mergeAll(TestSettings, World)

type Portfolio = Effect.Success<typeof enrolledPortfolio>

/** 10,000 dollars on each chain, and a permission on Base that the owner took back. */
const revokedOnBase = Effect.gen(function* () {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(portfolio.accounts[0], baseUsdc.assetId, 10_000_000_000n)
  market.fund(portfolio.accounts[1], arbUsdc.assetId, 10_000_000_000n)
  market.revoked.add(`${portfolio.accounts[0]} 0x00000001`)
  return { market, portfolio }
})

const submit = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Portfolio) {
  const store = yield* OperationStore
  const operationId = yield* makeOperationId
  const now = yield* DateTime.now
  return yield* store.submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
})

const begin = Effect.fnUntraced(function* (portfolio: Portfolio) {
  const submission = yield* submit(portfolio)
  if (submission._tag !== "Submitted")
    return yield* Effect.die(new Error(`The run was not accepted: ${submission._tag}`))
  yield* Effect.flatMap(OperationLauncher, ({ launch }) => launch(submission.operation))
  return submission.operation.operationId
})

/** Accepts the run that the schedule is due to start. */
const submitScheduled = Effect.fnUntraced(function* ({ portfolioId }: Portfolio) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* DateTime.now
  yield* sql`UPDATE schedules SET status = 'paused' WHERE portfolio_id <> ${portfolioId}`
  const [operationId] = yield* claimDue(DateTime.add(now, { days: 40 }), 1)
  assert.isDefined(operationId)
  return operationId!
})

const launch = (operationId: OperationId) =>
  Effect.flatMap(OperationLauncher, (launcher) => launcher.launch({ operationId, kind: "rebalance" }))

const reaches = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Portfolio,
  operationId: OperationId,
  state: OperationState
) {
  const store = yield* OperationStore
  return yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail((operation) => operation.state === state),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience)
  )
})

const reportOf = (operationId: OperationId) =>
  Effect.flatMap(RunStore, (runs) => runs.report(operationId)).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport)))
  )

const eventsOf = (operationId: OperationId, kind: string) =>
  Effect.flatMap(OperationStore, (store) => store.events(operationId, 0, 100)).pipe(
    Effect.map((events) => events.filter((event) => event.kind === kind).map(({ payload }) => payload))
  )

const statesOf = (operationId: OperationId) =>
  Effect.map(eventsOf(operationId, "state"), (payloads) =>
    payloads.map((payload) => (payload as { readonly state: OperationState }).state)
  )

const isOnTarget = (market: TestChain["Service"], account: Portfolio["accounts"][number], weth: typeof baseWeth) =>
  market.balance(account, weth.assetId) > 0n

layer(EngineLive.pipe(Layer.provideMerge(Patient)), { excludeTestServices: true })(
  "a run whose owner must sign anew",
  (it) => {
    it.effect("trades on the other chain, reports what must be signed, waits, and goes on by itself", () =>
      Effect.gen(function* () {
        const { market, portfolio } = yield* revokedOnBase
        const [onBase, onArbitrum] = portfolio.accounts
        const operationId = yield* begin(portfolio)
        yield* reaches(portfolio, operationId, "awaiting_user")
        assert.isTrue(isOnTarget(market, onArbitrum, arbWeth))
        assert.isFalse(isOnTarget(market, onBase, baseWeth))
        assert.deepStrictEqual(yield* eventsOf(operationId, "signature_required"), [
          {
            chainId: baseUsdc.chainId,
            permissionId: "0x00000001",
            cause: "permission_revoked",
            reason: "the owner removed the agent's permission"
          }
        ])
        assert.notStrictEqual((yield* signAnew(portfolio))._tag, "ChainActive")
        const operation = yield* reaches(portfolio, operationId, "completed")
        assert.isNull(operation.error)
        assert.isTrue(isOnTarget(market, onBase, baseWeth))
        assert.deepStrictEqual(yield* statesOf(operationId), [
          "accepted",
          "running",
          "awaiting_user",
          "running",
          "completed"
        ])
        const { chains } = yield* reportOf(operationId)
        assert.deepStrictEqual(
          chains.map(({ receipt }) => receipt?.success),
          [true, true]
        )
      })
    )

    it.effect("holds no slot, is no stuck work and blocks no other run, which leaves that chain out", () =>
      Effect.gen(function* () {
        const { portfolio } = yield* revokedOnBase
        const operationId = yield* begin(portfolio)
        yield* reaches(portfolio, operationId, "awaiting_user")
        yield* Effect.flatMap(OperationLauncher, ({ capacity }) => capacity).pipe(
          Effect.filterOrFail((free) => free === testSettings.engine.maxRunsInFlight),
          Effect.retry(Schedule.spaced("5 millis")),
          Effect.timeout(patience)
        )
        const { moving, retrying } = yield* Effect.flatMap(StepStore, ({ oldest }) => oldest)
        assert.isTrue(Option.isNone(moving) && Option.isNone(retrying))

        const other = yield* submitScheduled(portfolio)
        yield* launch(other)
        yield* reaches(portfolio, other, "completed")
        const { chains } = yield* reportOf(other)
        assert.include(
          chains[0]!.skips.map(({ code }) => code),
          "SIGNATURE_REQUIRED"
        )
        assert.isNull(chains[0]!.failure)
        yield* reaches(portfolio, operationId, "awaiting_user")
        yield* signAnew(portfolio)
        yield* reaches(portfolio, operationId, "completed")
      })
    )

    it.effect("goes on only once no other run of the portfolio is at work", () =>
      Effect.gen(function* () {
        const { portfolio } = yield* revokedOnBase
        const operationId = yield* begin(portfolio)
        yield* reaches(portfolio, operationId, "awaiting_user")
        const other = yield* submitScheduled(portfolio)
        yield* signAnew(portfolio)
        yield* Effect.sleep("300 millis")
        yield* reaches(portfolio, operationId, "awaiting_user")
        yield* launch(other)
        yield* reaches(portfolio, other, "completed")
        yield* reaches(portfolio, operationId, "completed")
      })
    )

    it.effect("goes on too when the chain accepts the agent again without a signature", () =>
      Effect.gen(function* () {
        const { market, portfolio } = yield* revokedOnBase
        const operationId = yield* begin(portfolio)
        yield* reaches(portfolio, operationId, "awaiting_user")
        market.revoked.clear()
        const other = yield* submitScheduled(portfolio)
        yield* launch(other)
        yield* reaches(portfolio, other, "completed")
        yield* reaches(portfolio, operationId, "completed")
        assert.isTrue(isOnTarget(market, portfolio.accounts[0], baseWeth))
      })
    )

    it.effect("asks once more when the chain refuses the new permission too", () =>
      Effect.gen(function* () {
        const { market, portfolio } = yield* revokedOnBase
        market.revoked.add(`${portfolio.accounts[0]} 0x00000002`)
        const operationId = yield* begin(portfolio)
        yield* reaches(portfolio, operationId, "awaiting_user")
        yield* signAnew(portfolio)
        yield* eventsOf(operationId, "signature_required").pipe(
          Effect.filterOrFail((events) => events.length === 2),
          Effect.retry(Schedule.spaced("20 millis")),
          Effect.timeout(patience)
        )
        yield* reaches(portfolio, operationId, "awaiting_user")
      })
    )

    it.effect("a second signature is refused while none is awaited", () =>
      Effect.gen(function* () {
        const { portfolio } = yield* revokedOnBase
        assert.strictEqual((yield* signAnew(portfolio))._tag, "ChainActive")
        const operationId = yield* begin(portfolio)
        yield* reaches(portfolio, operationId, "awaiting_user")
        yield* signAnew(portfolio)
        yield* reaches(portfolio, operationId, "completed")
        assert.strictEqual((yield* signAnew(portfolio))._tag, "ChainActive")
      })
    )
  }
)

const Impatient = Layer.mergeAll(
  testSettingsWith({ rebalances: { ...testSettings.rebalances, signatureWaitMs: 100 } }),
  World
)

layer(EngineLive.pipe(Layer.provideMerge(Impatient)), { excludeTestServices: true })(
  "an owner who does not sign",
  (it) => {
    it.effect("fails the run in time with a clear error, and the next run waits anew", () =>
      Effect.gen(function* () {
        const { market, portfolio } = yield* revokedOnBase
        const operationId = yield* begin(portfolio)
        const failed = yield* reaches(portfolio, operationId, "failed")
        assert.strictEqual(
          failed.error,
          "chain 8453: the owner did not sign anew in time: the owner removed the agent's permission"
        )
        const { chains } = yield* reportOf(operationId)
        assert.isTrue(chains[1]!.receipt?.success, "the other chain was traded")
        const next = yield* begin(portfolio)
        yield* reaches(portfolio, next, "awaiting_user")
        yield* signAnew(portfolio)
        yield* reaches(portfolio, next, "completed")
        assert.isTrue(isOnTarget(market, portfolio.accounts[0], baseWeth))
      })
    )
  }
)

layer(Patient, { excludeTestServices: true })("an engine that is stopped while a run waits for the owner", (it) => {
  it.effect("leaves it to the next one, which goes on once", () =>
    Effect.gen(function* () {
      const { market, portfolio } = yield* revokedOnBase
      const startEngine = Effect.gen(function* () {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.fresh(EngineLive), scope)
        return { context, stop: Scope.close(scope, Exit.void) }
      })
      const first = yield* startEngine
      const operationId = yield* Effect.provide(begin(portfolio), first.context)
      yield* reaches(portfolio, operationId, "awaiting_user")
      yield* first.stop
      yield* signAnew(portfolio)
      yield* reaches(portfolio, operationId, "awaiting_user")
      const second = yield* startEngine
      yield* reaches(portfolio, operationId, "completed")
      yield* second.stop
      assert.strictEqual(market.included.size, 2, "one batch a chain")
      assert.deepStrictEqual(yield* statesOf(operationId), [
        "accepted",
        "running",
        "awaiting_user",
        "running",
        "completed"
      ])
      assert.lengthOf(yield* eventsOf(operationId, "signature_required"), 1)
    })
  )
})
