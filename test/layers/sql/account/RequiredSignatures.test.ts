import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { after, arbitrum, base, claimDue, noon, pauseAll, submit, world } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const permissionId = PermissionId.make("0x01020304")

/** A portfolio whose run found that its owner must sign anew for Base. */
const required = Effect.gen(function* () {
  const made = yield* world()
  const { operationId } = yield* submit(made.tenantId, made.portfolioId)
  const signatures = yield* RequiredSignatures
  const require = (id: OperationId, chainId = base, permission = permissionId) =>
    signatures.require({ operationId: id, chainId, permissionId: permission, cause: "permission_revoked", at: noon })
  const enter = (id: OperationId, ...states: ReadonlyArray<"running" | "awaiting_user" | "failed">) =>
    Effect.flatMap(OperationStore, (store) =>
      Effect.forEach(states, (state) =>
        store.transition({ operationId: id, to: state, at: after(1), error: state === "failed" ? "gone" : null })
      )
    )
  assert.isTrue(yield* require(operationId))
  return { ...made, enter, operationId, require, signatures }
})

/** The schedule starts the next run of the one portfolio that is not paused. */
const nextScheduled = Effect.gen(function* () {
  const [operationId] = yield* claimDue(after(10_000), 10)
  assert.isDefined(operationId, "a run that waits leaves the schedule free")
  return operationId!
})

eachDatabase("RequiredSignatures", (it) => {
  it.effect("answers a trigger with the run that waits, as long as none is at work", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const { enter, operationId, portfolioId, tenantId } = yield* required
      yield* enter(operationId, "running", "awaiting_user")
      const answered = () =>
        Effect.map(submit(tenantId, portfolioId, { now: after(20_000) }), ({ submission }) => {
          assert.strictEqual(submission._tag, "Running")
          return submission._tag === "Running" ? submission.operation.operationId : undefined
        })
      assert.strictEqual(yield* answered(), operationId)
      const other = yield* nextScheduled
      assert.strictEqual(yield* answered(), other)
      yield* enter(other, "running", "failed")
      assert.strictEqual(yield* answered(), operationId)
      yield* enter(operationId, "failed")
      const { submission } = yield* submit(tenantId, portfolioId, { now: after(30_000) })
      assert.strictEqual(submission._tag, "Submitted")
    })
  )

  it.effect("has one run waiting for each chain, and the next one when that has ended", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const { enter, operationId, require, signatures } = yield* required
      assert.isTrue(yield* require(operationId), "repeated")
      assert.isTrue(yield* require(operationId, arbitrum))
      yield* enter(operationId, "running", "awaiting_user")
      const other = yield* nextScheduled
      assert.isFalse(yield* require(other))
      assert.deepStrictEqual(yield* signatures.awaitedBy(operationId), [base, arbitrum])
      yield* enter(operationId, "failed")
      assert.isTrue(yield* require(other))
      assert.deepStrictEqual(yield* signatures.awaitedBy(operationId), [arbitrum])
      assert.deepStrictEqual(yield* signatures.awaitedBy(other), [base])
    })
  )

  it.effect("waits for nothing once the need is cleared, or another permission counts there", () =>
    Effect.gen(function* () {
      const { operationId, portfolioId, require, signatures } = yield* required
      yield* signatures.clear(portfolioId, base)
      assert.deepStrictEqual(yield* signatures.awaitedBy(operationId), [])
      yield* require(operationId, base, PermissionId.make("0x0a0b0c0d"))
      assert.deepStrictEqual(yield* signatures.awaitedBy(operationId), [], "that grant had been replaced already")
    })
  )

  it.effect("resumes a run once no other one is at work, and only then", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const { enter, operationId, portfolioId, signatures, tenantId } = yield* required
      yield* enter(operationId, "running", "awaiting_user")
      const other = yield* nextScheduled
      assert.isFalse(yield* signatures.resume(operationId, after(3)))
      yield* enter(other, "running", "failed")
      assert.isTrue(yield* signatures.resume(operationId, after(4)))
      assert.isTrue(yield* signatures.resume(operationId, after(5)), "repeated after a crash")
      const { submission } = yield* submit(tenantId, portfolioId, { now: after(6) })
      assert.strictEqual(submission._tag, "Running")
      yield* enter(operationId, "failed")
      assert.isFalse(yield* signatures.resume(operationId, after(7)))
    })
  )

  it.effect("lets either the run that resumes or a new one begin, never both", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const { enter, operationId, portfolioId, signatures } = yield* required
      const sql = yield* SqlClient.SqlClient
      yield* enter(operationId, "running", "awaiting_user")
      const [resumed, claimed] = yield* Effect.all(
        [signatures.resume(operationId, after(10_000)), claimDue(after(10_000), 10)],
        { concurrency: "unbounded" }
      )
      const begun = [resumed, claimed.length > 0]
      assert.strictEqual(begun.filter((one) => one).length, 1)
      const rows = yield* sql`
        SELECT 1 FROM operations WHERE portfolio_id = ${portfolioId} AND finished_at IS NULL
        AND state <> 'awaiting_user'`
      assert.lengthOf(rows, 1)
    })
  )

  it.effect("does not deadlock with a run of the schedule that begins at the same moment", () =>
    Effect.gen(function* () {
      // The embedded database has one connection, so that no two transactions of it meet.
      if ((yield* DatabaseInfo).isEmbedded) return
      yield* pauseAll
      const { enter, operationId, portfolioId, signatures } = yield* required
      const sql = yield* SqlClient.SqlClient
      yield* enter(operationId, "running", "awaiting_user")
      const areWaiting = (count: number) =>
        sql<{ readonly count: number }>`
          SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`.pipe(
          Effect.filterOrFail(([row]) => row!.count === count),
          Effect.retry(Schedule.spaced("10 millis")),
          Effect.timeout(patience)
        )
      const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* sql`SELECT 1 FROM portfolios WHERE portfolio_id = ${portfolioId} FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(held, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(held)
      // The run that resumes waits for the portfolio first; the insert has its place in the index when it does.
      const resuming = yield* Effect.forkChild(signatures.resume(operationId, after(10_000)))
      yield* areWaiting(1)
      const claiming = yield* Effect.forkChild(claimDue(after(10_000), 10))
      yield* areWaiting(2)
      yield* Deferred.succeed(release, undefined)
      const begun = [yield* Fiber.join(resuming), (yield* Fiber.join(claiming)).length > 0]
      assert.deepStrictEqual(begun, [false, true])
    })
  )
})
