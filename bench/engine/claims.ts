/**
 * Due claims a second at a million schedules: the service's claims beside the same writes by plain SQL on the same
 * table.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Console, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { fill, makeDue, patiently } from "#bench/engine/fill.ts"
import { spreadHeading, spreadLine } from "#bench/engine/spreadLine.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { DueStore } from "#domain/rebalance/DueStore.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import * as DueStoreLive from "#layers/sql/rebalance/DueStore.ts"

const schedules = 1_000_000
const tenants = 1_000
const rounds = 5
const batchesOfARound = 40
const batch = 200

/** One statement that claims, moves the due time by a day, and accepts operations with their first events. */
const plainClaim = `
  WITH due AS MATERIALIZED (
    SELECT portfolio_id, due_at FROM schedules WHERE status = 'active' AND due_at <= $1
    ORDER BY due_at, portfolio_id LIMIT ${batch} FOR UPDATE SKIP LOCKED
  ), moved AS (
    UPDATE schedules s SET due_at = $1::timestamptz + interval '1 day', updated_at = $1 FROM due
    WHERE s.portfolio_id = due.portfolio_id RETURNING s.portfolio_id, s.tenant_id
  ), inserted AS (
    INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
      last_sequence)
    SELECT 'op_' || gen_random_uuid(), tenant_id, portfolio_id, 'rebalance', 'scheduled', 'accepted', $1, $1, 1
    FROM moved ON CONFLICT DO NOTHING RETURNING operation_id
  )
  INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
  SELECT operation_id, 1, $1, 'state', '{"state": "accepted", "trigger": "scheduled", "error": null}' FROM inserted
  RETURNING 1`

/** Claims a second over the batches of a round. */
const measure = <E, R>(claim: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.gen(function* () {
    const start = performance.now()
    let claimed = 0
    for (let index = 0; index < batchesOfARound; index += 1) claimed += (yield* claim).length
    return (claimed * 1000) / (performance.now() - start)
  })

const stores = (url: string) =>
  Layer.mergeAll(DueStoreLive.layer, AssetStore.layer).pipe(
    Layer.provideMerge(databaseLayer(url)),
    Layer.provide(NodeCrypto.layer)
  )

export const claims = Effect.gen(function* () {
  const database = yield* benchDatabase
  yield* Console.log("Filling a million schedules ...")
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* DueStore
    yield* fill(tenants, schedules)
    yield* makeDue(schedules / 2)
    yield* patiently(Effect.flatMap(SqlClient.SqlClient, (apart) => apart`VACUUM (ANALYZE)`))
    const ours = measure(
      Effect.gen(function* () {
        const now = yield* DateTime.now
        const { due, checkId } = yield* store.claim(now, DateTime.add(now, { seconds: 15 }), batch)
        const { operationIds } = yield* store.complete(
          now,
          checkId,
          due.map((one) => ({ ...one, onTargetAt: null }))
        )
        return operationIds
      })
    )
    const plain = measure(Effect.flatMap(DateTime.nowAsDate, (now) => sql.unsafe(plainClaim, [now])))
    yield* ours
    yield* plain
    // Sessions planned their checks of foreign keys while these tables were empty, and would go through them row by
    // row.
    yield* sql`ANALYZE operations, operation_events`
    const rates: { readonly ours: Array<number>; readonly plain: Array<number> } = { ours: [], plain: [] }
    for (let round = 0; round < rounds; round += 1) {
      rates.ours.push(yield* ours)
      rates.plain.push(yield* plain)
    }
    yield* Console.log(
      [
        "",
        `Due claims at ${schedules.toLocaleString("en-US")} schedules of ${tenants.toLocaleString("en-US")} tenants, half of them due; batches of ${batch}, one claimer`,
        spreadHeading,
        spreadLine("Ballast: claims/s", spreadOf(rates.ours)),
        spreadLine("plain SQL: claims/s", spreadOf(rates.plain)),
        spreadLine("Ballast / plain SQL", spreadOfRatios(rates.ours, rates.plain), 2),
        "  Target: a median ratio of at least 0.80"
      ].join("\n")
    )
  }).pipe(Effect.provide(stores(database)))
}).pipe(Effect.scoped)
