/**
 * PostgreSQL crashes while rebalances and a swap are at work, and a copy takes its place that lacks the last commits.
 * The service goes on with it as it is; the chains have included what the copy does not know of.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { postgresServer } from "#test/fault/support/PostgresServer.ts"
import { backendQuote, signedInOwner, submitAction } from "#test/support/actingOwner.ts"
import { included, chainBalance, createStrategy, rebalance } from "#test/support/journey.ts"
import { eventually, worldFolder } from "#test/support/World.ts"
import { enrolled, finished, funded, operationOf, traded, worldOn } from "#test/world/support/slowlyConfirmed.ts"

/** Longer than what is younger than a failover (`minAgeOfLoss`). */
const takeover = "6 seconds"

interface Moment {
  /** Where the server's log ends. */
  readonly position: string
  /** Rebalances whose plan is stored and nothing after it. */
  readonly planned: ReadonlyArray<string>
}

const moment = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Moment>`
    SELECT pg_current_wal_insert_lsn()::text AS position, ARRAY(
      SELECT m.envelope::jsonb #>> '{payload,operationId}' FROM workflow_messages m
      JOIN workflow_steps s ON s.execution_id = m.entity_id
      WHERE m.tag = 'run' AND m.entity_type LIKE '%Rebalance%' GROUP BY m.request_id
      HAVING bool_or(s.step LIKE 'plan/%') AND NOT bool_or(s.step LIKE 'prepare/%')
      ORDER BY 1
    ) AS planned`
).pipe(Effect.map(([row]) => row!))

/** The position at which the most rebalances had a plan, and had nothing else some time later. */
const bestOf = (moments: ReadonlyArray<Moment>) =>
  moments
    .map(({ planned, position }, index) => {
      const later = new Set(moments[index + 1]?.planned)
      return { position, planned: planned.filter((id) => later.has(id)) }
    })
    .reduce((best, one) => (one.planned.length > best.planned.length ? one : best))

describe("a failover to a copy that lost the last commits", () => {
  if (postgresServer === undefined) {
    it.skip("skipped because initdb, postgres and pg_basebackup are not installed", () => {})
    return
  }
  const newServer = postgresServer

  it.live("ends no run as failed whose bytes are on their way, and carries nothing out twice", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* Effect.acquireRelease(Effect.promise(worldFolder), ({ remove }) =>
        Effect.promise(remove)
      )
      const server = yield* newServer
      const world = yield* worldOn(dataDir, server.url)
      const { accounts, owner, portfolios } = yield* Effect.promise(async () => {
        const strategyId = await createStrategy(world)
        const portfolios = []
        for (let count = 0; count < 5; count++) portfolios.push(await enrolled(world, strategyId))
        const owner = await signedInOwner(world)
        await Promise.all([...portfolios, owner].map((one) => funded(world, one)))
        return { accounts: portfolios.flatMap((one) => one.accounts), owner, portfolios }
      })
      yield* server.copy

      const { before, planned, runs, swap } = yield* Effect.gen(function* () {
        const moments: Array<Moment> = []
        const observing = yield* moment.pipe(
          Effect.tap((one) => Effect.sync(() => moments.push(one))),
          Effect.andThen(Effect.sleep("10 millis")),
          Effect.forever,
          Effect.forkScoped
        )
        const begun = yield* Effect.promise(async () => {
          const [swap, ...ids] = await Promise.all([
            submitAction(world, backendQuote(world, owner), owner.token),
            ...portfolios.map(({ portfolioId }) => rebalance(world, portfolioId))
          ])
          assert.strictEqual(swap.status, 200, JSON.stringify(swap.body))
          const all = [...accounts, owner.vault]
          await eventually("everything is in a block", async () =>
            (await included(world, all)).every((count) => count === 1) ? true : undefined
          )
          return {
            swap: swap.body.result.data.operationId as string,
            runs: ids.map((operationId, index) => ({ operationId, portfolioId: portfolios[index]!.portfolioId }))
          }
        })
        yield* Fiber.interrupt(observing)
        yield* server.crash
        const best = bestOf(moments)
        assert.isNotEmpty(best.planned, "there is a moment at which a plan was stored and nothing else")
        yield* Effect.sleep(takeover)
        yield* server.startCopyAt(best.position)
        return { ...begun, before: yield* Effect.eventually(moment), planned: best.planned }
      }).pipe(Effect.scoped, Effect.provide(databaseLayer(server.url)))
      assert.isNotEmpty(before.planned, JSON.stringify({ before, planned }))

      yield* Effect.promise(async () => {
        const all = [...accounts, owner.vault]
        const dollars = () => Promise.all(all.map((accountId) => chainBalance(world, accountId, "USDC")))
        const left = await dollars()
        const unknown: Array<string> = []
        for (const { operationId, portfolioId } of runs) {
          if ((await operationOf(world, portfolioId, operationId)) === undefined) unknown.push(portfolioId)
          else await traded(world, portfolioId, operationId)
        }
        if ((await operationOf(world, owner.portfolioId, swap)) !== undefined)
          assert.strictEqual((await finished(world, owner.portfolioId, swap)).outcome, "traded")
        const once = all.map(() => 1)
        assert.deepStrictEqual(await included(world, all), once)
        assert.deepStrictEqual(await dollars(), left)

        // Whoever asks again, because an operation is unknown or not, finds that at most some dollars are left to do.
        for (const { portfolioId } of portfolios) {
          const again = await finished(world, portfolioId, await rebalance(world, portfolioId))
          assert.strictEqual(again.state, "completed", JSON.stringify(again))
        }
        for (const [index, now] of (await dollars()).entries())
          assert.closeTo(Number(now - left[index]!) / 1e6, 0, 100, `account ${index}`)
        assert.isBelow(unknown.length, runs.length)
      })
    }).pipe(Effect.scoped)
  )
})
