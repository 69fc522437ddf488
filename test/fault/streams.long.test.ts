/**
 * Streams of operations on other processes than the one that runs them: an engine without routes works, and services
 * whose schedulers rest answer clients. One of these is killed with -9; its clients go on elsewhere.
 */
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { makeBroadcasts, startEngine, until } from "#bench/engine/engines.ts"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { startService } from "#bench/http/service.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { openEvents, type TextFrame } from "#test/support/eventSource.ts"

const runs = 6
const pepper = "p".repeat(40)

/** They answer, and begin nothing themselves. */
const resting = {
  MAX_RUNS_IN_FLIGHT: "0",
  SCHEDULER_INTERVAL_MS: "3600000",
  COINGECKO_URL: "http://127.0.0.1:9",
  LOG_LEVEL: "Error"
}

const stores = (url: string) =>
  Tenants.layer.pipe(
    Layer.provide([KeyHashLive, AccessChanges.layer]),
    Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make(pepper) })),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(databaseLayer(url)),
    Layer.provideMerge(NodeCrypto.layer)
  )

const operationIds = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly id: string }>`SELECT operation_id AS id FROM operations ORDER BY operation_id`
).pipe(Effect.map((rows) => rows.map(({ id }) => id)))

const streamOf = (
  baseUrl: string,
  operationId: string,
  { key, lastEventId }: { readonly key: string; readonly lastEventId: string }
) => openEvents(`${baseUrl}/v1/executions/${operationId}/stream`, { "x-api-key": key, "last-event-id": lastEventId })

const sequences = (frames: ReadonlyArray<TextFrame>) => frames.map(({ data }) => data.sequence as number)

/** Everything until the run has begun; the stream stays open. */
const untilRunning = async (baseUrl: string, operationId: string, key: string) => {
  const source = await streamOf(baseUrl, operationId, { key, lastEventId: "0-0" })
  const seen: Array<TextFrame> = []
  for (let frame = await source.nextEvent(); frame !== undefined; frame = await source.nextEvent()) {
    if (frame.event !== "execution.snapshot") seen.push(frame)
    if (frame.data.payload.to === "running") return { operationId, source, seen }
  }
  return assert.fail("the stream ended before the run began")
}

describe("streams on several processes", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live(
    "send each event once and in order from processes that answer alone (MAX_RUNS_IN_FLIGHT=0), also when one is killed",
    () =>
      Effect.gen(function* () {
        const url = yield* newDatabase
        yield* Effect.gen(function* () {
          yield* fill(1, runs)
          yield* fillGrants(runs)
          yield* makeBroadcasts
          const sql = yield* SqlClient.SqlClient
          const [tenant] = yield* sql<{ readonly id: TenantId }>`SELECT tenant_id AS id FROM tenants`
          const { secret } = yield* (yield* Tenants).createKey(tenant!.id, { name: "k", scopes: [], expiresAt: null })
          const key = Redacted.value(secret)
          const [first, second] = yield* Effect.all(
            [startService(url, pepper, resting), startService(url, pepper, resting)],
            { concurrency: 2 }
          )
          // Each call of a chain takes so long that the clients are there before the end.
          yield* startEngine({ url, delayMs: 3_000, maxRuns: 40, stalls: false })
          yield* makeDue(runs)
          yield* until(Effect.map(operationIds, (ids) => ids.length === runs))
          const ids = yield* operationIds

          const followed = yield* Effect.promise(() =>
            Promise.all(ids.map((operationId) => untilRunning(first.baseUrl, operationId, key)))
          )
          yield* Effect.sync(() => process.kill(first.pid, "SIGKILL"))
          const unfinished = yield* sql`SELECT 1 FROM operations WHERE finished_at IS NULL`
          assert.isAbove(unfinished.length, 0, "killed in the middle")

          for (const { operationId, seen, source } of followed) {
            const cut = yield* Effect.promise(() => source.rest().catch(() => "cut" as const))
            assert.strictEqual(cut, "cut")
            const resumed = yield* Effect.promise(() =>
              streamOf(second.baseUrl, operationId, { key, lastEventId: seen.at(-1)!.id! })
            )
            const [snapshot, ...rest] = yield* Effect.promise(resumed.rest)
            assert.strictEqual(snapshot?.event, "execution.snapshot")
            const all = [...seen, ...rest]
            assert.deepStrictEqual(
              sequences(all),
              all.map((_, index) => index + 1)
            )
            assert.deepStrictEqual(
              all.map(({ data, event }) => data.payload.to ?? event),
              ["accepted", "running", "completed", "execution.result"]
            )
            assert.lengthOf(rest.at(-1)!.data.payload.txHashes, 1)
            const whole = yield* Effect.promise(() =>
              streamOf(second.baseUrl, operationId, { key, lastEventId: "0-0" })
            )
            assert.deepStrictEqual((yield* Effect.promise(whole.rest)).slice(1), all, "as it is read from the start")
          }
        }).pipe(Effect.provide(stores(url)))
      }).pipe(Effect.scoped)
  )
})
