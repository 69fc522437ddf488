/**
 * What our own transactions did to accounts that are valued, in PostgreSQL. Concurrent valuations share one statement;
 * each gets the rows of its own spans alone, even where others read the same accounts.
 */
import { type DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetId, AccountId } from "#domain/values/Caip.ts"
import { OperationId } from "#domain/values/Ids.ts"
import type { BlockRead, BlockSpan, OutgoingValue, Trades } from "#domain/performance/ValuationStore.ts"
import { batchedStatement } from "#layers/sql/batchedStatement.ts"
import { decodeRows, Numeric } from "#layers/sql/rows.ts"

const DeltaRow = Schema.Struct({
  caller: Schema.Int,
  accountId: AccountId,
  assetId: Schema.NullOr(AssetId),
  raw: Schema.NullOr(Numeric)
})
const allDeltas = decodeRows(DeltaRow)

const OutgoingRow = Schema.Struct({
  caller: Schema.Int,
  operationId: OperationId,
  sourceId: AccountId,
  receiverId: AccountId,
  assetId: AssetId,
  raw: Numeric,
  isOpen: Schema.Boolean,
  arrivedAt: AccountId,
  arrivalBlock: Schema.NullOr(Numeric)
})
const allOutgoing = decodeRows(OutgoingRow)

interface AskedTrades {
  readonly spans: ReadonlyArray<BlockSpan>
  readonly openedBefore: DateTime.Utc | undefined
}

interface AskedOutgoing {
  readonly reads: ReadonlyArray<BlockRead>
  readonly known: ReadonlyArray<OperationId>
}

/** A column of what each caller names, and beside it the caller's index. */
const byCaller = <Caller, T>(callers: ReadonlyArray<Caller>, named: (caller: Caller) => ReadonlyArray<T>) =>
  callers.flatMap((caller, place) => named(caller).map((item) => ({ place, caller, item })))

// A liquidation is a trade of what it sold for what it paid out: that it was paid out is cash that left. What it paid
// is known when its operation ends. An account without an asset is one whose trade, or transfer to or from another
// chain, is still under way. What a transfer brought is a trade of ours too: it came from another account of the same
// portfolio. It is none when that was never valued, and not yet one while what was read of that account still holds
// it. -1 is before every block.
const selectTrades = (sql: SqlClient.SqlClient, callers: ReadonlyArray<AskedTrades>) => {
  const spans = byCaller(callers, (caller) => caller.spans)
  return sql`
    WITH spans AS MATERIALIZED (
      SELECT * FROM unnest(${spans.map(({ place }) => place)}::int[],
        ${spans.map(({ item }) => item.accountId)}::text[],
        ${spans.map(({ item }) => (item.after ?? -1n).toString())}::numeric[],
        ${spans.map(({ item }) => item.through.toString())}::numeric[],
        ${spans.map(({ caller }) => BigInt(caller.openedBefore?.epochMilliseconds ?? -1))}::bigint[]
      ) AS span (caller, account_id, after, through, opened_before)
    )
    SELECT spans.caller, t.account_id AS "accountId", change.asset_id AS "assetId", sum(change.raw)::text AS raw
    FROM spans
    JOIN relayed_actions t ON spans.after >= 0 AND t.account_id = spans.account_id AND t.status = 'succeeded'
      AND (t.receipt ->> 'blockNumber')::numeric > spans.after
      AND (t.receipt ->> 'blockNumber')::numeric <= spans.through
    JOIN operations o ON o.operation_id = t.operation_id
    LEFT JOIN withdrawals w ON w.operation_id = t.operation_id
    CROSS JOIN LATERAL (
      SELECT delta ->> 'assetId' AS asset_id, (delta ->> 'raw')::numeric AS raw
      FROM jsonb_array_elements(t.receipt -> 'deltas') AS delta
      UNION ALL
      SELECT paid ->> 'assetId', (paid ->> 'amountRaw')::numeric
      FROM jsonb_array_elements(w.outcome -> 'delivered') AS paid
    ) change
    WHERE o.kind <> 'withdraw' OR ((w.message -> 'liquidate')::boolean AND w.outcome IS NOT NULL)
    GROUP BY spans.caller, t.account_id, change.asset_id
    UNION ALL
    SELECT spans.caller, spans.account_id, CASE WHEN has_left THEN t.ending -> 'received' ->> 'assetId' END,
      CASE WHEN has_left THEN t.ending -> 'received' ->> 'raw' END
    FROM spans
    JOIN transfers t ON CASE WHEN t.state = 'refunded' THEN t.account_id ELSE t.destination_id END = spans.account_id
      AND (t.ending -> 'received' ->> 'blockNumber')::numeric > spans.after
      AND (t.ending -> 'received' ->> 'blockNumber')::numeric <= spans.through
    JOIN spans source ON source.caller = spans.caller AND source.account_id = t.account_id AND source.after >= 0
    LEFT JOIN relayed_actions r ON r.operation_id = t.run_id AND r.chain_id = t.chain_id AND r.attempt = t.attempt
    CROSS JOIN LATERAL (SELECT coalesce((r.receipt ->> 'blockNumber')::numeric <= source.through, true) AS has_left) s
    UNION ALL
    SELECT DISTINCT spans.caller, spans.account_id, NULL, NULL
    FROM spans
    JOIN transfers t ON spans.account_id IN (t.account_id, t.destination_id) AND t.state = 'open'
      AND (spans.opened_before < 0 OR t.opened_at >= to_timestamp(spans.opened_before / 1000.0))
    UNION ALL
    SELECT DISTINCT spans.caller, d.account_id, NULL, NULL
    FROM spans
    JOIN transfer_intents d ON d.account_id = spans.account_id
    UNION ALL
    SELECT DISTINCT spans.caller, t.account_id, NULL, NULL
    FROM spans
    JOIN relayed_actions t ON t.account_id = spans.account_id AND t.status = 'signed'
    JOIN operations o ON o.operation_id = t.operation_id AND o.finished_at IS NULL
    LEFT JOIN withdrawals w ON w.operation_id = t.operation_id
    WHERE o.kind <> 'withdraw' OR (w.message -> 'liquidate')::boolean
    UNION ALL
    SELECT DISTINCT spans.caller, t.account_id, NULL, NULL
    FROM spans
    JOIN relayed_actions t ON spans.after >= 0 AND t.account_id = spans.account_id AND t.status = 'succeeded'
      AND (t.receipt ->> 'blockNumber')::numeric > spans.after
      AND (t.receipt ->> 'blockNumber')::numeric <= spans.through
    JOIN operations o ON o.operation_id = t.operation_id AND o.finished_at IS NULL
    JOIN withdrawals w ON w.operation_id = t.operation_id AND (w.message -> 'liquidate')::boolean`
}

// The run records the receipt of a batch before its entry is opened, so what left has a block here.
const selectOutgoing = (sql: SqlClient.SqlClient, callers: ReadonlyArray<AskedOutgoing>) => {
  const reads = byCaller(callers, (caller) => caller.reads)
  const known = byCaller(callers, (caller) => caller.known)
  return sql`
    WITH reads AS MATERIALIZED (
      SELECT * FROM unnest(${reads.map(({ place }) => place)}::int[],
        ${reads.map(({ item }) => item.accountId)}::text[],
        ${reads.map(({ item }) => item.blockNumber.toString())}::numeric[]) AS read (caller, account_id, block_number)
    ), known AS MATERIALIZED (
      SELECT * FROM unnest(${known.map(({ place }) => place)}::int[],
        ${known.map(({ item }) => item)}::text[]) AS transfer (caller, operation_id)
    ), outgoing AS (
      SELECT reads.caller, t.*, CASE WHEN t.state = 'refunded' THEN t.account_id
      ELSE t.destination_id END AS arrived_at, (t.ending -> 'received' ->> 'blockNumber')::numeric AS arrival_block
      FROM reads
      JOIN transfers t ON t.account_id = reads.account_id AND t.state <> 'failed'
      JOIN relayed_actions r ON r.operation_id = t.run_id AND r.chain_id = t.chain_id AND r.attempt = t.attempt
        AND (r.receipt ->> 'blockNumber')::numeric <= reads.block_number
    )
    SELECT d.caller, d.operation_id AS "operationId", d.account_id AS "sourceId", d.destination_id AS "receiverId",
      d.buy AS "assetId", d.expected_raw::text AS raw, d.state = 'open' AS "isOpen", d.arrived_at AS "arrivedAt",
      d.arrival_block::text AS "arrivalBlock"
    FROM outgoing d LEFT JOIN reads receiver ON receiver.caller = d.caller AND receiver.account_id = d.arrived_at
    WHERE d.state = 'open' OR d.arrival_block > receiver.block_number
      OR EXISTS (SELECT FROM known WHERE known.caller = d.caller AND known.operation_id = d.operation_id)
    ORDER BY d.operation_id`
}

/** The rows of each caller. */
const rowsOf = <Row extends { readonly caller: number }>(callers: ReadonlyArray<unknown>, rows: ReadonlyArray<Row>) => {
  const found = callers.map((): Array<Row> => [])
  for (const row of rows) found[row.caller]!.push(row)
  return found
}

const outgoingFrom = (rows: ReadonlyArray<typeof OutgoingRow.Type>): ReadonlyArray<OutgoingValue> =>
  rows.map(({ arrivalBlock, arrivedAt, caller: _, ...row }) => ({
    ...row,
    arrival: arrivalBlock === null ? null : { accountId: arrivedAt, blockNumber: arrivalBlock }
  }))

const tradesFrom = (rows: ReadonlyArray<typeof DeltaRow.Type>): Trades => {
  const confirmed = new Map<AccountId, Map<AssetId, bigint>>()
  const pending = new Set<AccountId>()
  for (const { accountId, assetId, raw } of rows) {
    if (assetId === null || raw === null) {
      pending.add(accountId)
      continue
    }
    const deltas = confirmed.get(accountId) ?? new Map<AssetId, bigint>()
    confirmed.set(accountId, deltas.set(assetId, (deltas.get(assetId) ?? 0n) + raw))
  }
  return { confirmed, pending }
}

/** `trades` and `outgoing` of the store. */
export const makeValuedTrades = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const tradesOf = yield* batchedStatement((callers: ReadonlyArray<AskedTrades>) =>
    Effect.map(allDeltas(selectTrades(sql, callers)), (rows) => rowsOf(callers, rows).map(tradesFrom))
  )
  const trades = (spans: ReadonlyArray<BlockSpan>, openedBefore?: DateTime.Utc): Effect.Effect<Trades> =>
    spans.length === 0 ? Effect.succeed(tradesFrom([])) : tradesOf({ spans, openedBefore })

  const outgoingOf = yield* batchedStatement((callers: ReadonlyArray<AskedOutgoing>) =>
    Effect.map(allOutgoing(selectOutgoing(sql, callers)), (rows) => rowsOf(callers, rows).map(outgoingFrom))
  )
  const outgoing = (reads: ReadonlyArray<BlockRead>, known: ReadonlyArray<OperationId>) =>
    reads.length === 0 ? Effect.succeed([]) : outgoingOf({ reads, known })

  return { trades, outgoing }
})
