/** Processes that serve webhooks are killed with -9, before and after the receiver answers: nothing is lost. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { startProcess } from "#bench/http/ownedProcess.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { idsOf, Process, subscribed } from "#test/domain/webhook/support/subscribed.ts"
import { newServerDatabase, storesOn } from "#test/support/database.ts"
import { status } from "#test/support/Receiver.ts"
import { patience } from "#test/support/suite/patience.ts"

const program = new URL("support/webhookProcess.ts", import.meta.url)
const count = 60
/** Time by which a claim of a dead process has ended. */
const beyondClaim = 61_000

describe("processes that serve webhooks on one PostgreSQL server", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live("are killed at every tenth message: each arrives, in order, and only what was under way comes twice", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { portfolioId, server, tenantId } = yield* subscribed()
        yield* sql`
            INSERT INTO tenant_events (tenant_id, at, type, portfolio_id, data)
            SELECT ${tenantId}, '2026-03-01T12:00:00Z', 'portfolio.renamed', ${portfolioId}, '{}'
            FROM generate_series(1, ${count}::int)`
        const kills: Array<"before" | "after"> = []
        const killedAt = new Set<string>()
        let pid = 0
        server.answer = (received, response, request) => {
          const id = received.headers["webhook-id"]!
          const isDue = Number(JSON.parse(received.body).eventId) % 10 === 0 && !killedAt.has(id)
          if (!isDue) return status(200)(received, response, request)
          killedAt.add(id)
          kills.push(kills.length % 2 === 0 ? "before" : "after")
          if (kills.at(-1) === "after") status(200)(received, response, request)
          process.kill(pid, "SIGKILL")
        }
        const unsent = sql`
            SELECT 1 FROM webhooks w JOIN tenant_event_heads h USING (tenant_id)
            WHERE w.cursor < h.last_sequence OR EXISTS (
              SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.webhook_id AND d.due_at IS NOT NULL)
            UNION SELECT 1 FROM tenant_events WHERE sequence IS NULL`
        for (let started = 0; (yield* unsent).length > 0; started += 1) {
          assert.isBelow(started, 20, "the processes that were started do not get on")
          yield* Effect.scoped(
            Effect.gen(function* () {
              const env = { DATABASE_URL: url, AHEAD_MS: String(started * beyondClaim), PATH: process.env["PATH"]! }
              const served = yield* startProcess("A process that serves webhooks", program, env)
              pid = served.pid
              yield* Effect.sleep("50 millis").pipe(
                Effect.andThen(unsent),
                Effect.repeat({ until: (rows) => !served.isRunning() || rows.length === 0 }),
                Effect.timeout(patience)
              )
            })
          )
        }
        const ids = idsOf(server)
        const firsts = [...new Set(ids)]
        assert.lengthOf(firsts, count)
        assert.deepStrictEqual(
          firsts,
          firsts.map((_, index) => firsts[0]! + index),
          "in the order of the log"
        )
        assert.isAtLeast(kills.length, 5)
        assert.isAtMost(ids.length, count + kills.length)
        assert.isAtLeast(ids.length, count + kills.filter((when) => when === "before").length)
        const byId = Map.groupBy(server.received, ({ headers }) => headers["webhook-id"])
        assert.strictEqual(byId.size, count, "what comes again has the id that it had")
      }).pipe(Effect.provide(Process.pipe(Layer.provideMerge(storesOn(url)))), Effect.provide(MovableClock.layer))
    }).pipe(Effect.scoped)
  )
})
