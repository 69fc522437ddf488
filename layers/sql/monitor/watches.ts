/** Prices that call monitors: which assets are watched, and whom a price calls. */
import { type DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

/** Watches of one statement. */
const batchSize = 500

const allAssets = decodeRows(Schema.Struct({ assetId: AssetId }))

export const makeWatches = (sql: SqlClient.SqlClient) => {
  /** Watches are taken away as they call, so that a monitor that cannot be measured is not called by every price. */
  const touchSome = (prices: string, at: Date) => sql<{ readonly called: number; readonly taken: number }>`
    WITH prices AS (
      SELECT * FROM jsonb_to_recordset(${prices}::jsonb) AS t (asset_id text, price numeric)
    ), calling AS MATERIALIZED (
      SELECT w.workflow_id, w.asset_id FROM prices t CROSS JOIN LATERAL (
        (SELECT h.workflow_id, h.asset_id FROM monitor_watches h
          WHERE h.asset_id = t.asset_id AND h.high <= t.price LIMIT ${batchSize})
        UNION ALL
        (SELECT l.workflow_id, l.asset_id FROM monitor_watches l
          WHERE l.asset_id = t.asset_id AND l.low >= t.price LIMIT ${batchSize})
      ) w LIMIT ${batchSize}
    ), taken AS (
      DELETE FROM monitor_watches w USING calling c
      WHERE w.workflow_id = c.workflow_id AND w.asset_id = c.asset_id RETURNING w.workflow_id
    ), called AS (
      UPDATE workflow_monitors m SET revision = m.revision + 1, claimed_until = NULL,
        next_check_at = least(m.next_check_at, greatest(${at}, m.last_tick_at + interval '1 millisecond'))
      WHERE m.workflow_id IN (SELECT workflow_id FROM taken) AND m.wait = 'trigger' RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM taken) AS taken, (SELECT count(*)::int FROM called) AS called`

  const touch = Effect.fn("MonitorStore.touch")(function* (prices: ReadonlyMap<AssetId, bigint>, at: DateTime.Utc) {
    const rows = storableJson(
      [...prices].map(([assetId, usd]) => ({ asset_id: assetId, price: Decimal.format(usd, 18) }))
    )
    let called = 0
    for (;;) {
      const [some] = yield* touchSome(rows, timestamp(at))
      called += some!.called
      // A full round takes watches away, so rounds come to an end; what others take meanwhile they have called.
      if (some!.taken < batchSize) return called
    }
  }, Effect.orDie)

  // Each step of the recursion is one index lookup, however many watches an asset has.
  const watched = Effect.map(
    allAssets(sql`
      WITH RECURSIVE assets (asset_id) AS (
        SELECT min(asset_id) FROM monitor_watches WHERE high IS NOT NULL
        UNION ALL
        SELECT (SELECT min(w.asset_id) FROM monitor_watches w WHERE w.high IS NOT NULL AND w.asset_id > a.asset_id)
        FROM assets a WHERE a.asset_id IS NOT NULL
      ), others (asset_id) AS (
        SELECT min(asset_id) FROM monitor_watches WHERE low IS NOT NULL
        UNION ALL
        SELECT (SELECT min(w.asset_id) FROM monitor_watches w WHERE w.low IS NOT NULL AND w.asset_id > o.asset_id)
        FROM others o WHERE o.asset_id IS NOT NULL
      )
      SELECT asset_id AS "assetId" FROM assets WHERE asset_id IS NOT NULL
      UNION SELECT asset_id FROM others WHERE asset_id IS NOT NULL`),
    (rows) => rows.map(({ assetId }) => assetId)
  ).pipe(Effect.withSpan("MonitorStore.watched"))

  return { touch, watched }
}
