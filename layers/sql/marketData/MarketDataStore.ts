/**
 * The shared cache of market data in PostgreSQL. Only the holder of the lease writes, which each statement checks
 * itself.
 */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type FetchedDataset,
  type FetchFailure,
  MarketDataStore,
  type RefreshLease
} from "#domain/marketData/MarketDataStore.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const leases = decodeFirst(Schema.Struct({ holder: Schema.String, epoch: Schema.BigInt }))
const allStates = decodeRows(
  Schema.Struct({
    name: Schema.String,
    revision: Schema.BigInt,
    fetchedAt: Schema.NullOr(Timestamp),
    attemptedAt: Timestamp
  })
)
const allStored = decodeRows(
  Schema.Struct({
    name: Schema.String,
    provider: Schema.String,
    revision: Schema.BigInt,
    fetchedAt: Timestamp,
    data: Schema.Unknown
  })
)

/** Most characters of a failure that are kept. */
const maxReason = 500

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The holder keeps its epoch; a process that acquires the lease from another gets the next one.
  const lead = Effect.fn("MarketDataStore.lead")((holder: string, now: DateTime.Utc, until: DateTime.Utc) =>
    Effect.map(
      leases(sql`
        UPDATE market_refresh_lease
        SET epoch = CASE WHEN holder = ${holder} THEN epoch ELSE epoch + 1 END, holder = ${holder},
          expires_at = ${timestamp(until)}
        WHERE holder = ${holder} OR expires_at <= ${timestamp(now)}
        RETURNING holder, epoch`),
      (lease): RefreshLease | null => (lease._tag === "Some" ? lease.value : null)
    )
  )

  const isHeld = ({ epoch, holder }: RefreshLease) =>
    sql`SELECT 1 FROM market_refresh_lease WHERE holder = ${holder} AND epoch = ${epoch}`

  const resign = Effect.fn("MarketDataStore.resign")(
    ({ epoch, holder }: RefreshLease) =>
      sql`UPDATE market_refresh_lease SET expires_at = '1970-01-01' WHERE holder = ${holder} AND epoch = ${epoch}`,
    Effect.asVoid,
    Effect.orDie
  )

  const states = allStates(sql`
    SELECT name, revision, fetched_at AS "fetchedAt", attempted_at AS "attemptedAt" FROM market_datasets`)

  const read = Effect.fn("MarketDataStore.read")((names: ReadonlyArray<string>) =>
    allStored(sql`
      SELECT name, provider, revision, fetched_at AS "fetchedAt", data FROM market_datasets
      WHERE name = ANY(${names}::text[]) AND data IS NOT NULL`)
  )

  const write = Effect.fn("MarketDataStore.write")(function* (
    lease: RefreshLease,
    { at, data, name, provider }: FetchedDataset
  ) {
    const written = yield* sql`
      INSERT INTO market_datasets (name, provider, revision, fetched_at, attempted_at, data)
      SELECT ${name}, ${provider}, nextval('market_dataset_revisions'), ${timestamp(at)}, ${timestamp(at)},
        ${storableJson(data)}::jsonb
      WHERE EXISTS (${isHeld(lease)})
      ON CONFLICT (name) DO UPDATE SET provider = excluded.provider, revision = excluded.revision,
        fetched_at = excluded.fetched_at, attempted_at = excluded.attempted_at, failure = NULL, data = excluded.data
      RETURNING 1`
    return written.length > 0
  }, Effect.orDie)

  const fail = Effect.fn("MarketDataStore.fail")(
    (lease: RefreshLease, { at, name, reason }: FetchFailure) => sql`
      INSERT INTO market_datasets (name, provider, revision, attempted_at, failure)
      SELECT ${name}, '', 0, ${timestamp(at)}, ${reason.slice(0, maxReason)} WHERE EXISTS (${isHeld(lease)})
      ON CONFLICT (name) DO UPDATE SET attempted_at = excluded.attempted_at, failure = excluded.failure`,
    Effect.asVoid,
    Effect.orDie
  )

  const remove = Effect.fn("MarketDataStore.remove")(
    (lease: RefreshLease, names: ReadonlyArray<string>) =>
      sql`DELETE FROM market_datasets WHERE name = ANY(${names}::text[]) AND EXISTS (${isHeld(lease)})`,
    Effect.asVoid,
    Effect.orDie
  )

  return MarketDataStore.of({ lead, resign, states, read, write, fail, remove })
})

export const layer = Layer.effect(MarketDataStore, make)
