/** The log of each tenant's events in PostgreSQL. The tables write it by their triggers; numbers are given here. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { EventBody } from "#domain/event/TenantEvent.ts"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { OperationId, PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import { decodeFirst, decodeRows, SmallBigint, Timestamp, timestamp } from "#layers/sql/rows.ts"

/** Entries that get their number in one statement. */
const batch = 1_000

const allEvents = decodeRows(
  Schema.Struct({
    sequence: SmallBigint,
    at: Timestamp,
    operationId: Schema.NullOr(OperationId),
    portfolioId: Schema.NullOr(PortfolioId),
    strategyId: Schema.NullOr(StrategyId),
    body: EventBody
  })
)
interface Seen {
  readonly tenantId: TenantId
  readonly sequence: number
}

const allTenants = decodeRows(Schema.Struct({ tenantId: TenantId }))
const firstRange = decodeFirst(Schema.Struct({ first: SmallBigint, last: SmallBigint }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /**
   * Numbers a batch of what has come; answers how many. The lock comes first: the statement after it sees what others
   * numbered.
   */
  const number = Effect.fnUntraced(
    function* (tenantId: TenantId) {
      const waiting = yield* sql`
        SELECT 1 FROM tenant_events WHERE tenant_id = ${tenantId} AND sequence IS NULL ORDER BY entry_id LIMIT 1`
      if (waiting.length === 0) return 0
      yield* sql`
        INSERT INTO tenant_event_heads (tenant_id, last_sequence) VALUES (${tenantId}, 0)
        ON CONFLICT (tenant_id) DO UPDATE SET last_sequence = tenant_event_heads.last_sequence`
      const numbered = yield* sql`
        WITH next AS (
          SELECT entry_id, row_number() OVER (ORDER BY entry_id) AS position FROM (
            SELECT entry_id FROM tenant_events WHERE tenant_id = ${tenantId} AND sequence IS NULL
            ORDER BY entry_id LIMIT ${batch}
          ) unnumbered
        ), head AS (
          UPDATE tenant_event_heads SET last_sequence = last_sequence + (SELECT count(*) FROM next)
          WHERE tenant_id = ${tenantId} RETURNING last_sequence
        )
        UPDATE tenant_events e SET sequence = head.last_sequence - (SELECT count(*) FROM next) + next.position
        FROM next, head WHERE e.entry_id = next.entry_id RETURNING 1`
      return numbered.length
    },
    sql.withTransaction,
    Effect.orDie
  )

  const select = (tenantId: TenantId, after: number, limit: number) =>
    allEvents(sql`
      SELECT sequence, at, operation_id AS "operationId", portfolio_id AS "portfolioId", strategy_id AS "strategyId",
        jsonb_build_object('type', type, 'data', data) AS body
      FROM tenant_events WHERE tenant_id = ${tenantId} AND sequence > ${after} ORDER BY sequence LIMIT ${limit}`)

  const read = Effect.fn("TenantEventLog.read")(function* (tenantId: TenantId, after: number, limit: number) {
    let events = yield* select(tenantId, after, limit)
    // Only a reader at the end of the numbered events numbers more.
    while (events.length < limit && (yield* number(tenantId)) > 0) events = yield* select(tenantId, after, limit)
    return events
  })

  const range = Effect.fn("TenantEventLog.range")(function* (tenantId: TenantId) {
    while ((yield* number(tenantId)) === batch);
    return yield* Effect.flatMap(
      firstRange(sql`
        SELECT coalesce((SELECT min(sequence) FROM tenant_events WHERE tenant_id = ${tenantId}
        AND sequence IS NOT NULL), h.last + 1) AS first, h.last
        FROM (SELECT coalesce(
          (SELECT last_sequence FROM tenant_event_heads WHERE tenant_id = ${tenantId}), 0) AS last) h`),
      Effect.fromOption
    )
  }, Effect.orDie)

  const grown = Effect.fn("TenantEventLog.grown")((seen: ReadonlyArray<Seen>) =>
    Effect.map(
      allTenants(sql`
        SELECT s.tenant_id AS "tenantId" FROM unnest(${seen.map(({ tenantId }) => tenantId)}::text[],
          ${seen.map(({ sequence }) => sequence)}::bigint[]) AS s (tenant_id, sequence)
        WHERE EXISTS (SELECT FROM tenant_events e WHERE e.tenant_id = s.tenant_id AND e.sequence IS NULL)
          OR EXISTS (SELECT FROM tenant_event_heads h WHERE h.tenant_id = s.tenant_id
          AND h.last_sequence > s.sequence)`),
      (rows) => rows.map(({ tenantId }) => tenantId)
    )
  )

  const prune = Effect.fn("TenantEventLog.prune")(function* (before: DateTime.Utc, limit: number) {
    const removed = yield* sql`
      DELETE FROM tenant_events WHERE entry_id IN (
        SELECT entry_id FROM tenant_events WHERE at < ${timestamp(before)} ORDER BY at LIMIT ${limit}
      ) RETURNING 1`
    return removed.length
  }, Effect.orDie)

  return TenantEventLog.of({ read, range, grown, prune })
})

export const layer = Layer.effect(TenantEventLog, make)
