import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { makeOperationId, makePortfolioId, type OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, claimDue, insertTenant, noon, pauseAll, submit, world } from "#test/layers/sql/fixtures.ts"

const launchOf = ({ operationId }: { readonly operationId: OperationId }) => ({
  operationId,
  kind: "rebalance" as const
})

eachDatabase("OperationStore", (it) => {
  it.effect("submits a manual run and finds it", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId, submission } = yield* submit(tenantId, portfolioId)
      const operation = {
        operationId,
        tenantId,
        portfolioId,
        kind: "rebalance" as const,
        trigger: "manual" as const,
        state: "accepted" as const,
        submittedAt: noon,
        updatedAt: noon,
        finishedAt: null,
        error: null,
        outcome: null,
        reason: null
      }
      assert.deepStrictEqual(submission, { _tag: "Submitted", operation })
      assert.deepStrictEqual(
        yield* store.find(tenantId, portfolioId, operationId),
        Option.some({ ...operation, firedBy: null, result: null })
      )
      assert.isTrue(Option.isNone(yield* store.find(yield* insertTenant, portfolioId, operationId)))
      assert.isTrue(Option.isNone(yield* store.find(tenantId, yield* makePortfolioId, operationId)))
    })
  )

  it.effect("refuses unknown, foreign and archived portfolios", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, tenantId } = yield* world()
      assert.deepStrictEqual((yield* submit(tenantId, yield* makePortfolioId)).submission, { _tag: "NoPortfolio" })
      assert.deepStrictEqual((yield* submit(yield* insertTenant, portfolioId)).submission, { _tag: "NoPortfolio" })
      yield* sql`UPDATE portfolios SET archived_at = updated_at WHERE portfolio_id = ${portfolioId}`
      assert.deepStrictEqual((yield* submit(tenantId, portfolioId)).submission, { _tag: "NoPortfolio" })
    })
  )

  it.effect("answers the unfinished run before it checks the cooldown", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const first = yield* submit(tenantId, portfolioId, { now: noon, cooldownMs: 60_000 })
      const running = (yield* submit(tenantId, portfolioId, { now: after(1), cooldownMs: 60_000 })).submission
      assert.strictEqual(running._tag === "Running" ? running.operation.operationId : running._tag, first.operationId)

      yield* store.transition({ operationId: first.operationId, to: "failed", at: after(2), error: "no route" })
      assert.deepStrictEqual(
        (yield* submit(tenantId, portfolioId, { now: after(59_999), cooldownMs: 60_000 })).submission,
        {
          _tag: "CoolingDown",
          until: after(60_000)
        }
      )
      assert.strictEqual(
        (yield* submit(tenantId, portfolioId, { now: after(60_000), cooldownMs: 60_000 })).submission._tag,
        "Submitted"
      )
    })
  )

  it.effect("does not count scheduled runs for the cooldown, but answers one that is running", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const [scheduled] = yield* claimDue(after(5_000), 1_000)
      const running = (yield* submit(tenantId, portfolioId, { now: after(5_001), cooldownMs: 60_000 })).submission
      assert.strictEqual(running._tag === "Running" ? running.operation.trigger : running._tag, "scheduled")
      yield* store.transition({ operationId: scheduled!, to: "cancelled", at: after(5_002), error: "stopped" })
      assert.strictEqual(
        (yield* submit(tenantId, portfolioId, { now: after(5_003), cooldownMs: 60_000 })).submission._tag,
        "Submitted"
      )
    })
  )

  it.effect("submits one of many concurrent triggers; the others see it running", () =>
    Effect.gen(function* () {
      const { portfolioId, tenantId } = yield* world()
      const all = yield* Effect.replicateEffect(submit(tenantId, portfolioId, { now: noon, cooldownMs: 60_000 }), 12, {
        concurrency: "unbounded"
      })
      const submitted = all.filter(({ submission }) => submission._tag === "Submitted")
      assert.strictEqual(submitted.length, 1)
      for (const { submission } of all) {
        if (submission._tag === "Running")
          assert.strictEqual(submission.operation.operationId, submitted[0]!.operationId)
        else assert.strictEqual(submission._tag, "Submitted")
      }
    })
  )

  it.effect("gives a portfolio one unfinished run when trigger and schedule race", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (let round = 0; round < 10; round++) {
        const { portfolioId, tenantId } = yield* world()
        yield* Effect.all([claimDue(after(6_000), 1_000), submit(tenantId, portfolioId, { now: after(6_000) })], {
          concurrency: 2
        })
        const rows = yield* sql`SELECT 1 FROM operations WHERE portfolio_id = ${portfolioId}`
        assert.strictEqual(rows.length, 1)
      }
    })
  )

  it.effect("moves along the lifecycle, sets times and errors, and never leaves a terminal state", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const find = Effect.map(store.find(tenantId, portfolioId, operationId), Option.getOrThrow)
      assert.isFalse(yield* store.transition({ operationId, to: "completed", at: after(1), error: null }))
      assert.isTrue(yield* store.transition({ operationId, to: "running", at: after(2), error: null }))
      assert.isFalse(yield* store.transition({ operationId, to: "running", at: after(3), error: null }))
      assert.isTrue(yield* store.transition({ operationId, to: "retrying", at: after(4), error: null }))
      const retrying = yield* find
      assert.deepStrictEqual([retrying.state, retrying.updatedAt, retrying.finishedAt], ["retrying", after(4), null])
      assert.isTrue(yield* store.transition({ operationId, to: "failed", at: after(5), error: "reverted: \0\uD800!" }))
      const failed = yield* find
      assert.deepStrictEqual(failed.finishedAt, after(5))
      assert.strictEqual(failed.error, "reverted: \uFFFD\uFFFD!")
      for (const to of ["running", "completed", "cancelled", "failed"] as const) {
        assert.isFalse(yield* store.transition({ operationId, to, at: after(6), error: null }))
      }
      assert.isFalse(
        yield* store.transition({ operationId: yield* makeOperationId, to: "running", at: after(6), error: null })
      )
      assert.deepStrictEqual(yield* find, failed)
    })
  )

  it.effect("numbers events from one, state changes and others alike, and pages through them", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      yield* store.transition({ operationId, to: "running", at: after(1), error: null })
      yield* store.append({
        operationId,
        at: after(2),
        kind: "planned",
        payload: { legs: [{ sell: "1\0" }], none: null }
      })
      yield* store.append({ operationId, at: after(3), kind: "note", payload: undefined })
      const events = yield* store.events(operationId, 0, 100)
      assert.deepStrictEqual(
        events.map(({ at, kind, payload, sequence }) => [sequence, at, kind, payload]),
        [
          [1, noon, "state", { state: "accepted", trigger: "manual", error: null }],
          [2, after(1), "state", { state: "running", error: null }],
          [3, after(2), "planned", { legs: [{ sell: "1\uFFFD" }], none: null }],
          [4, after(3), "note", null]
        ]
      )
      assert.deepStrictEqual(
        (yield* store.events(operationId, 1, 2)).map((event) => event.sequence),
        [2, 3]
      )
      assert.deepStrictEqual(yield* store.events(yield* makeOperationId, 0, 10), [])
      assert.isTrue(
        Exit.hasDies(
          yield* Effect.exit(store.append({ operationId: yield* makeOperationId, at: noon, kind: "x", payload: {} }))
        )
      )
    })
  )

  it.effect("keeps sequences gapless when writers race", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const writers = Array.from({ length: 30 }, (_, n) =>
        n % 3 === 0
          ? store.transition({ operationId, to: n % 2 === 0 ? "running" : "retrying", at: after(n), error: null })
          : store.append({ operationId, at: after(n), kind: "tick", payload: { n } })
      )
      yield* Effect.all(writers, { concurrency: "unbounded" })
      const sequences = (yield* store.events(operationId, 0, 100)).map((event) => event.sequence)
      assert.deepStrictEqual(
        sequences,
        sequences.map((_, index) => index + 1)
      )
      assert.isAtLeast(sequences.length, 21)
    })
  )

  it.effect("lists operations that were accepted before a time, oldest first", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const early = yield* world()
      const late = yield* world()
      const first = yield* submit(early.tenantId, early.portfolioId, { now: after(-20_000) })
      const second = yield* submit(late.tenantId, late.portfolioId, { now: after(-10_000) })
      assert.deepStrictEqual(yield* store.accepted(after(-10_000), 10), [launchOf(first)])
      assert.deepStrictEqual(yield* store.accepted(after(-9_999), 10), [launchOf(first), launchOf(second)])
      assert.deepStrictEqual(yield* store.accepted(after(-9_999), 1), [launchOf(first)])
      yield* store.transition({ operationId: first.operationId, to: "running", at: noon, error: null })
      assert.deepStrictEqual(yield* store.accepted(after(-9_999), 10), [launchOf(second)])
    })
  )

  it.effect("answers whether a rebalance of the portfolio is unfinished; a withdrawal is none", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const source = Option.getOrThrow(yield* (yield* WithdrawalStore).source(tenantId, portfolioId))
      const { accountId } = source.grants[0]!.authorization.chains[0]
      const message = yield* messageOf({ portfolioId, tenantId }, accountId, { assets: [[baseUsdc.assetId, 7n]] })
      yield* acceptWithdrawal({ portfolioId, tenantId }, { accountId, message })
      assert.isFalse(yield* store.isRebalancing(portfolioId))
      const { operationId } = yield* submit(tenantId, portfolioId)
      assert.isTrue(yield* store.isRebalancing(portfolioId))
      yield* store.transition({ operationId, to: "failed", at: yield* DateTime.now, error: "test" })
      assert.isFalse(yield* store.isRebalancing(portfolioId))
    })
  )
})
