/**
 * Reads under which pepper the service works, and what is still stored under another one: so the command line does not
 * make keys that the service would not accept, and shows when a pepper that was exchanged can be dropped.
 */
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { timestamp } from "#layers/sql/rows.ts"

/** What the service that started last works under; null before one has. */
export const pepperOfService = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ pepper: string }>`SELECT pepper FROM peppers ORDER BY noted_at DESC, pepper LIMIT 1`
  return row?.pepper ?? null
}).pipe(Effect.orDie)

export interface PepperUse {
  /** Live keys that are stored under the pepper. */
  readonly current: number
  /** Those under another one, or under one that was not recorded: they were not used since. */
  readonly others: number
}

export const pepperUse = Effect.fn("pepperUse")(function* (pepper: string, now: DateTime.Utc) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<PepperUse>`
    SELECT count(*) FILTER (WHERE pepper = ${pepper})::int AS current,
      count(*) FILTER (WHERE pepper IS DISTINCT FROM ${pepper})::int AS others
    FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${timestamp(now)})`
  return row!
}, Effect.orDie)

/** Notes the pepper of a service that starts. */
export const NotePepper = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { pepperName } = yield* KeyHash
    const now = timestamp(yield* DateTime.now)
    yield* sql`
      INSERT INTO peppers (pepper, noted_at) VALUES (${pepperName}, ${now})
      ON CONFLICT (pepper) DO UPDATE SET noted_at = greatest(peppers.noted_at, EXCLUDED.noted_at)`
  }).pipe(Effect.orDie)
)
