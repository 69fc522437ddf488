/** Operations that are cancelled at every moment of their runs, over a real engine and a market in memory. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Deferred, Duration, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { cancelledError } from "#domain/operation/CancelRequested.ts"
import { Cancellations } from "#domain/operation/Cancellations.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { ApiKeyId, makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import type { OperationState } from "#domain/operation/Operation.ts"
import { type Launch, OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import type { Scope } from "#domain/values/Scopes.ts"
import { RebalanceWorkflow } from "#domain/rebalance/RebalanceWorkflow.ts"
import { StepHook } from "#layers/engine/cluster/StepHook.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { insertRun } from "#test/layers/engine/cluster/engine.ts"
import { acceptSwap } from "#test/support/acceptedSwap.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { newServerDatabase, storesOn, TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { SignatureRequestTiming } from "#domain/rebalance/SignatureRequests.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { patience } from "#test/support/suite/patience.ts"

type Portfolio = Effect.Success<typeof enrolledPortfolio>

/** Called after each stored step, by operation. */
const watched = new Map<OperationId, (steps: number) => void>()
const steps = new Map<OperationId, number>()
const Hook = Layer.succeed(StepHook, (payload) => {
  const { operationId } = payload as { readonly operationId: OperationId }
  const count = (steps.get(operationId) ?? 0) + 1
  steps.set(operationId, count)
  watched.get(operationId)?.(count)
})

/** A run that waits for its owner polls again in an hour, so it ends only when it is woken. */
const Timing = Layer.mergeAll(
  Layer.succeed(SignatureRequestTiming, { first: Duration.hours(1), max: Duration.hours(1) }),
  Layer.succeed(RelayTiming, {
    searchFor: Duration.seconds(2),
    searchInterval: Duration.millis(20),
    holdFor: Duration.minutes(5)
  })
)

const worldOn = (stores: typeof TestStores) =>
  Cancellations.layer.pipe(
    Layer.provideMerge(EngineLive),
    Layer.provide(Hook),
    Layer.provideMerge(Layer.mergeAll(TestChains, Timing, TestSettings)),
    Layer.provideMerge(stores),
    Layer.provideMerge(NodeCrypto.layer)
  )

const funded = Effect.gen(function* () {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(portfolio.accounts[0], baseUsdc.assetId, 10_000_000_000n)
  market.fund(portfolio.accounts[1], arbUsdc.assetId, 10_000_000_000n)
  return { market, portfolio }
})

const submitted = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Portfolio) {
  const operationId = yield* makeOperationId
  const store = yield* OperationStore
  yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
  return { operationId, kind: "rebalance" } satisfies Launch
})

const kinds = {
  rebalance: submitted,
  withdraw: (portfolio: Portfolio) =>
    Effect.gen(function* () {
      const [account] = portfolio.accounts
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 200_000_000n]], changes: {} })
      return {
        operationId: yield* acceptWithdrawal(portfolio, { accountId: account, message }),
        kind: "withdraw"
      } satisfies Launch
    }),
  swap: (portfolio: Portfolio) =>
    Effect.map(acceptSwap(portfolio, portfolio.accounts[0], { amountRaw: 200_000_000n }), (operationId): Launch => ({
      operationId,
      kind: "swap"
    }))
}

const find = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Portfolio, operationId: OperationId) {
  const store = yield* OperationStore
  return yield* Effect.orDie(Effect.flatMap(store.find(tenantId, portfolioId, operationId), Effect.fromOption))
})

const reaches = (portfolio: Portfolio, operationId: OperationId, isThere: (state: OperationState) => boolean) =>
  find(portfolio, operationId).pipe(
    Effect.filterOrFail(({ state }) => isThere(state)),
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.timeout(patience)
  )

const ended = (portfolio: Portfolio, operationId: OperationId) =>
  reaches(portfolio, operationId, (state) => ["completed", "failed", "cancelled"].includes(state))

/** Attempts of an operation: how many are signed, and how many of these have no receipt. */
const attempts = Effect.fnUntraced(function* (operationId: OperationId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly signed: number; readonly open: number }>`
    SELECT count(*)::int AS signed, count(*) FILTER (WHERE status = 'signed')::int AS open
    FROM relayed_actions WHERE operation_id = ${operationId}`
  return row!
})

/** Asks as a request does, and answers how much was signed the moment after it was accepted. */
const cancel = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Portfolio, launch: Launch) {
  const { operationId } = launch
  const store = yield* OperationStore
  const answer = yield* store.requestCancel({ tenantId, portfolioId, operationId, now: yield* DateTime.now })
  const { signed } = yield* attempts(operationId)
  yield* Effect.flatMap(OperationLauncher, ({ wake }) => wake(launch))
  return { answer, signed }
})

/** A run that is cancelled while it goes on behind its nth step, or at the moment of its launch when that is zero. */
const cancelledAt = Effect.fnUntraced(function* (kind: keyof typeof kinds, step: number) {
  const { portfolio } = yield* funded
  const launch = yield* kinds[kind](portfolio)
  const { operationId } = launch
  const due = yield* Deferred.make<void>()
  watched.set(operationId, (count) => {
    if (count === step) Deferred.doneUnsafe(due, Effect.void)
  })
  if (step === 0) yield* Deferred.succeed(due, undefined)
  const asking = yield* Effect.forkChild(Effect.andThen(Deferred.await(due), cancel(portfolio, launch)))
  yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch(launch))
  const operation = yield* ended(portfolio, operationId)
  const asked = (yield* Deferred.isDone(due)) ? yield* Fiber.join(asking) : undefined
  if (asked === undefined) yield* Fiber.interrupt(asking)
  return { asked, operation, ...(yield* attempts(operationId)) }
})

type Raced = Effect.Success<ReturnType<typeof cancelledAt>>

/** What must be true whenever the request came. */
const check = ({ asked, open, operation, signed }: Raced, moment: string) => {
  const { outcome, result, state } = operation
  assert.strictEqual(open, 0, `${moment}: what was signed was waited for`)
  if (asked === undefined) return assert.strictEqual(state, "completed", moment)
  if (asked.answer._tag === "TooLate") return assert.strictEqual(state, "completed", moment)
  assert.strictEqual(signed, asked.signed, `${moment}: nothing was signed after the request was accepted`)
  const landed = (result?.chains ?? []).flatMap(({ transactions }) => transactions).filter(({ success }) => success)
  assert.lengthOf(landed, signed, `${moment}: the result lists what landed, and nothing else`)
  if (state === "completed") return assert.strictEqual(outcome, "traded", `${moment}: nothing was left to cancel`)
  assert.strictEqual(state, "cancelled", moment)
  assert.strictEqual(operation.error, cancelledError)
  assert.strictEqual(outcome, signed === 0 ? "skipped" : "partly_traded", moment)
}

const signedAnew = (portfolio: Portfolio, operationId: OperationId) =>
  reaches(portfolio, operationId, (state) => state === "awaiting_user")

/** A run that has traded on Arbitrum and waits for its owner on Base. */
const awaiting = Effect.gen(function* () {
  const { market, portfolio } = yield* funded
  market.revoked.add(`${portfolio.accounts[0]} 0x00000001`)
  const launch = yield* submitted(portfolio)
  yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch(launch))
  yield* signedAnew(portfolio, launch.operationId)
  return { portfolio, operationId: launch.operationId }
})

/** The run could not have polled by itself within the time of the test. */
const endsCancelled = Effect.fnUntraced(function* (portfolio: Portfolio, operationId: OperationId) {
  const operation = yield* ended(portfolio, operationId)
  assert.strictEqual(operation.state, "cancelled")
  assert.strictEqual(operation.outcome, "partly_traded")
  const [onBase, onArbitrum] = operation.result!.chains
  assert.include(
    onBase!.skips.map(({ code }) => code),
    "CANCELLED"
  )
  assert.deepStrictEqual(
    onArbitrum!.transactions.map(({ success }) => success),
    [true]
  )
  const events = yield* Effect.flatMap(OperationStore, (store) => store.events(operationId, 0, 100))
  assert.deepInclude(events.at(-1), {
    kind: "state",
    payload: { state: "cancelled", error: cancelledError, outcome: "partly_traded" }
  })
})

const suites = [
  { database: "PGlite", stores: TestStores },
  ...(newServerDatabase === undefined
    ? []
    : [{ database: "PostgreSQL", stores: Layer.unwrap(Effect.map(Effect.orDie(newServerDatabase), storesOn)) }])
]

for (const { database, stores } of suites) {
  layer(worldOn(stores), { excludeTestServices: true })(`an operation that is cancelled, on ${database}`, (it) => {
    for (const [kind, fewest] of [
      ["rebalance", 6],
      ["withdraw", 5],
      ["swap", 5]
    ] as const) {
      it.effect(`${kind}: at every step, what is signed lands and is reported, and nothing else is ever signed`, () =>
        Effect.gen(function* () {
          const states = new Set<string>()
          let step = 0
          for (; ; step++) {
            const raced = yield* cancelledAt(kind, step)
            check(raced, `${kind} behind step ${step}`)
            states.add(raced.operation.state)
            if (raced.asked === undefined) break
          }
          assert.isAtLeast(step, fewest)
          assert.deepStrictEqual([...states].sort(), ["cancelled", "completed"])
        })
      )
    }

    it.effect("while its key gives no signature ends without one, and asking again changes nothing", () =>
      Effect.gen(function* () {
        const { market, portfolio } = yield* funded
        market.signs = false
        const launch = yield* submitted(portfolio)
        const { operationId } = launch
        yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch(launch))
        yield* reaches(portfolio, operationId, (state) => state === "retrying")
        const first = yield* cancel(portfolio, launch)
        assert.strictEqual(first.answer._tag, "Requested")
        const operation = yield* ended(portfolio, operationId)
        market.signs = true
        assert.deepInclude(operation, { state: "cancelled", outcome: "skipped" })
        assert.deepStrictEqual(yield* attempts(operationId), { signed: 0, open: 0 })
        const again = yield* cancel(portfolio, launch)
        assert.deepStrictEqual(again.answer, { _tag: "Requested", operation })
      })
    )

    it.effect("while it waits for its owner ends at once, with what landed on its other chain", () =>
      Effect.gen(function* () {
        const { operationId, portfolio } = yield* awaiting
        yield* cancel(portfolio, { operationId, kind: "rebalance" })
        yield* endsCancelled(portfolio, operationId)
      })
    )

    it.effect("by an operator while its run is suspended goes on, and ends with what landed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { cancel: cancelRun, find: findRun } = yield* SuspendedRuns
        const { operationId, portfolio } = yield* awaiting
        yield* sql`
          UPDATE workflow_messages SET suspended_at = ${DateTime.toDateUtc(yield* DateTime.now)}, cause = 'inspected'
          WHERE tag = 'run' AND NOT is_claimed AND finished_at IS NULL
            AND envelope::jsonb #>> '{payload,operationId}' = ${operationId} RETURNING 1`.pipe(
          Effect.filterOrFail((rows) => rows.length === 1),
          Effect.retry(Schedule.spaced("10 millis")),
          Effect.timeout(patience)
        )
        assert.isTrue(Option.isSome(yield* findRun(operationId)))
        assert.strictEqual(yield* cancelRun(operationId), "Requested")
        // By itself it would poll once its sleep is over.
        yield* Effect.flatMap(OperationLauncher, ({ wake }) => wake({ operationId, kind: "rebalance" }))
        yield* endsCancelled(portfolio, operationId)
        assert.strictEqual(yield* cancelRun(operationId), "Unknown")
      })
    )

    it.effect("because its portfolio is stopped while it waits for its owner", () =>
      Effect.gen(function* () {
        const { operationId, portfolio } = yield* awaiting
        const { cancelAwaiting } = yield* Cancellations
        yield* cancelAwaiting(portfolio.tenantId, portfolio.portfolioId)
        yield* endsCancelled(portfolio, operationId)
      })
    )

    it.effect("while its run waits for a time that is two days away ends at once", () =>
      Effect.gen(function* () {
        const { portfolio } = yield* funded
        const { operationId } = yield* submitted(portfolio)
        const now = yield* DateTime.now
        yield* insertRun({
          id: 193,
          workflow: "Rebalance",
          execution: yield* RebalanceWorkflow.executionId({ operationId }),
          key: operationId,
          payload: { operationId },
          wakeAt: DateTime.toDateUtc(DateTime.add(now, { days: 2 }))
        })
        const { cancel: cancelOperation } = yield* Cancellations
        yield* cancelOperation(portfolio.portfolioId, operationId).pipe(
          Effect.provideService(Caller, {
            tenantId: portfolio.tenantId,
            tenantName: "Acme",
            tenantEmail: "ops@acme.example",
            entitlements: new Set<string>(),
            apiKeyId: ApiKeyId.make("key_01JQ8ZKX4V6T3M9N2C5B7D8F0H"),
            scopes: new Set<Scope>(["portfolios:write"])
          })
        )
        assert.deepInclude(yield* ended(portfolio, operationId), { state: "cancelled", outcome: "skipped" })
      })
    )
  })
}
