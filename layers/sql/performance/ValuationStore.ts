/** Valuations of portfolios in PostgreSQL. The row of the last valuation is also the one by which processes claim. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetId, AccountId } from "#domain/Caip.ts"
import * as Day from "#domain/Day.ts"
import * as Decimal from "#domain/Decimal.ts"
import { OperationId, PortfolioId } from "#domain/Ids.ts"
import type { AccountSnapshot, PortfolioValuation } from "#domain/performance/Valuation.ts"
import {
  type BlockRead,
  type BlockSpan,
  type ClaimQuery,
  type OutgoingValue,
  type Trades,
  ValuationStore
} from "#domain/performance/ValuationStore.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"
import { decodeFirst, decodeRows, Numeric, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const held = { assetId: AssetId, raw: Schema.BigIntFromString, priceUsd: Wad, decimals: Schema.Int }

const Snapshots = Schema.Array(
  Schema.Struct({
    accountId: AccountId,
    blockNumber: Schema.BigIntFromString,
    holdings: Schema.Array(Schema.Struct(held)),
    incoming: Schema.optionalKey(Schema.Array(Schema.Struct({ ...held, operationId: OperationId })))
  })
)
const encodeSnapshots = Schema.encodeSync(Snapshots)

const allPortfolios = decodeRows(
  Schema.Struct({
    portfolioId: PortfolioId,
    accountIds: Schema.Array(AccountId),
    isClaimed: Schema.Boolean,
    accounts: Schema.NullOr(Snapshots)
  })
)
const firstAccounts = decodeFirst(Schema.Struct({ accountIds: Schema.Array(AccountId) }))
const firstTaken = decodeFirst(
  Schema.Struct({
    accountIds: Schema.Array(AccountId),
    claimedAt: Timestamp,
    accounts: Schema.NullOr(Snapshots)
  })
)
const allWritten = decodeRows(Schema.Struct({ portfolioId: PortfolioId }))
const allDeltas = decodeRows(
  Schema.Struct({ accountId: AccountId, assetId: Schema.NullOr(AssetId), raw: Schema.NullOr(Numeric) })
)
const allOutgoing = decodeRows(
  Schema.Struct({
    operationId: OperationId,
    sourceId: AccountId,
    receiverId: AccountId,
    assetId: AssetId,
    raw: Numeric,
    isOpen: Schema.Boolean,
    arrivedAt: AccountId,
    arrivalBlock: Schema.NullOr(Numeric)
  })
)
const allDays = decodeRows(
  Schema.Struct({
    day: Day.Day,
    valueUsd: Wad,
    cashFlowUsd: Wad,
    growth: Schema.NullOr(Wad),
    isRebased: Schema.Boolean
  })
)

const byAccount = (snapshots: ReadonlyArray<AccountSnapshot>): ReadonlyMap<AccountId, AccountSnapshot> =>
  new Map(snapshots.map((snapshot) => [snapshot.accountId, snapshot]))

const numeric = (value: bigint): string => Decimal.format(value, 18)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const claim = Effect.fn("ValuationStore.claim")(function* ({ after, claimedBefore, limit, now }: ClaimQuery) {
    const rows = yield* allPortfolios(sql`
      WITH page AS (
        SELECT portfolio_id, account_ids FROM portfolios
        WHERE archived_at IS NULL AND portfolio_id > ${after ?? ""} ORDER BY portfolio_id LIMIT ${limit}
      ), claimed AS (
        INSERT INTO portfolio_snapshots AS s (portfolio_id, claimed_at)
        SELECT portfolio_id, ${timestamp(now)}::timestamptz FROM page ORDER BY portfolio_id
        ON CONFLICT (portfolio_id) DO UPDATE SET claimed_at = excluded.claimed_at
        WHERE s.claimed_at <= ${timestamp(claimedBefore)}
        RETURNING portfolio_id, accounts
      )
      SELECT page.portfolio_id AS "portfolioId", page.account_ids AS "accountIds",
        claimed.portfolio_id IS NOT NULL AS "isClaimed", claimed.accounts
      FROM page LEFT JOIN claimed ON claimed.portfolio_id = page.portfolio_id
      ORDER BY page.portfolio_id`)
    return {
      claimed: rows.flatMap(({ accountIds, accounts, isClaimed, portfolioId }) =>
        isClaimed ? [{ portfolioId, accountIds, before: byAccount(accounts ?? []) }] : []
      ),
      last: rows.length < limit ? null : rows.at(-1)!.portfolioId
    }
  })

  const accountsOf = Effect.fn("ValuationStore.accountsOf")((portfolioId: PortfolioId) =>
    Effect.map(
      firstAccounts(sql`
        SELECT account_ids AS "accountIds" FROM portfolios
        WHERE portfolio_id = ${portfolioId} AND archived_at IS NULL`),
      Option.match({ onNone: () => [], onSome: ({ accountIds }) => accountIds })
    )
  )

  // A claim is known by its moment, so each is later than the one before.
  const take = Effect.fn("ValuationStore.take")(function* (portfolioId: PortfolioId, now: DateTime.Utc) {
    const taken = yield* firstTaken(sql`
      WITH claimed AS (
        INSERT INTO portfolio_snapshots AS s (portfolio_id, claimed_at)
        SELECT portfolio_id, ${timestamp(now)}::timestamptz FROM portfolios
        WHERE portfolio_id = ${portfolioId} AND archived_at IS NULL
        ON CONFLICT (portfolio_id) DO UPDATE
          SET claimed_at = greatest(excluded.claimed_at, s.claimed_at + interval '1 millisecond')
        RETURNING portfolio_id, claimed_at, accounts
      )
      SELECT p.account_ids AS "accountIds", claimed.claimed_at AS "claimedAt", claimed.accounts
      FROM claimed JOIN portfolios p ON p.portfolio_id = claimed.portfolio_id`)
    return Option.map(taken, ({ accountIds, accounts, claimedAt }) => ({
      portfolio: { portfolioId, accountIds, before: byAccount(accounts ?? []) },
      claimedAt
    }))
  })

  // A liquidation is a trade of what it sold for what it paid out: that it was paid out is cash that left. What it paid
  // is known when its operation ends. An account without an asset is one whose trade, or transfer to or from another
  // chain, is still under way. What a transfer brought is a trade of ours too: it came from another account of the same
  // portfolio. It is none when that was never valued, and not yet one while what was read of that account still holds
  // it. -1 is before every block.
  const selectTrades = (spans: ReadonlyArray<BlockSpan>, openedBefore: Date | null) => sql`
    WITH spans AS MATERIALIZED (
      SELECT * FROM unnest(${spans.map(({ accountId }) => accountId)}::text[],
        ${spans.map(({ after }) => (after ?? -1n).toString())}::numeric[],
        ${spans.map(({ through }) => through.toString())}::numeric[]) AS span (account_id, after, through)
    )
    SELECT t.account_id AS "accountId", change.asset_id AS "assetId", sum(change.raw)::text AS raw
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
    GROUP BY t.account_id, change.asset_id
    UNION ALL
    SELECT spans.account_id, CASE WHEN has_left THEN t.ending -> 'received' ->> 'assetId' END,
      CASE WHEN has_left THEN t.ending -> 'received' ->> 'raw' END
    FROM spans
    JOIN transfers t ON CASE WHEN t.state = 'refunded' THEN t.account_id ELSE t.destination_id END = spans.account_id
      AND (t.ending -> 'received' ->> 'blockNumber')::numeric > spans.after
      AND (t.ending -> 'received' ->> 'blockNumber')::numeric <= spans.through
    JOIN spans source ON source.account_id = t.account_id AND source.after >= 0
    LEFT JOIN relayed_actions r ON r.operation_id = t.run_id AND r.chain_id = t.chain_id AND r.attempt = t.attempt
    CROSS JOIN LATERAL (SELECT coalesce((r.receipt ->> 'blockNumber')::numeric <= source.through, true) AS has_left) s
    UNION ALL
    SELECT DISTINCT spans.account_id, NULL, NULL
    FROM spans
    JOIN transfers t ON spans.account_id IN (t.account_id, t.destination_id) AND t.state = 'open'
      AND (${openedBefore}::timestamptz IS NULL OR t.opened_at >= ${openedBefore}::timestamptz)
    UNION ALL
    SELECT DISTINCT d.account_id, NULL, NULL
    FROM spans
    JOIN transfer_intents d ON d.account_id = spans.account_id
    UNION ALL
    SELECT DISTINCT t.account_id, NULL, NULL
    FROM spans
    JOIN relayed_actions t ON t.account_id = spans.account_id AND t.status = 'signed'
    JOIN operations o ON o.operation_id = t.operation_id AND o.finished_at IS NULL
    LEFT JOIN withdrawals w ON w.operation_id = t.operation_id
    WHERE o.kind <> 'withdraw' OR (w.message -> 'liquidate')::boolean
    UNION ALL
    SELECT DISTINCT t.account_id, NULL, NULL
    FROM spans
    JOIN relayed_actions t ON spans.after >= 0 AND t.account_id = spans.account_id AND t.status = 'succeeded'
      AND (t.receipt ->> 'blockNumber')::numeric > spans.after
      AND (t.receipt ->> 'blockNumber')::numeric <= spans.through
    JOIN operations o ON o.operation_id = t.operation_id AND o.finished_at IS NULL
    JOIN withdrawals w ON w.operation_id = t.operation_id AND (w.message -> 'liquidate')::boolean`

  const trades = Effect.fn("ValuationStore.trades")(function* (
    spans: ReadonlyArray<BlockSpan>,
    openedBefore?: DateTime.Utc
  ) {
    const settled = new Map<AccountId, Map<AssetId, bigint>>()
    const unsettled = new Set<AccountId>()
    const before = openedBefore === undefined ? null : timestamp(openedBefore)
    for (const { accountId, assetId, raw } of spans.length === 0 ? [] : yield* allDeltas(selectTrades(spans, before))) {
      if (assetId === null || raw === null) {
        unsettled.add(accountId)
        continue
      }
      const deltas = settled.get(accountId) ?? new Map<AssetId, bigint>()
      settled.set(accountId, deltas.set(assetId, (deltas.get(assetId) ?? 0n) + raw))
    }
    return { settled, unsettled } satisfies Trades
  })

  // The run records the receipt of a batch before its entry is opened, so what left has a block here.
  const selectOutgoing = (reads: ReadonlyArray<BlockRead>, known: ReadonlyArray<OperationId>) => sql`
    WITH reads AS MATERIALIZED (
      SELECT * FROM unnest(${reads.map(({ accountId }) => accountId)}::text[],
        ${reads.map(({ blockNumber }) => blockNumber.toString())}::numeric[]) AS read (account_id, block_number)
    ), outgoing AS (
      SELECT t.*, CASE WHEN t.state = 'refunded' THEN t.account_id ELSE t.destination_id END AS arrived_at,
        (t.ending -> 'received' ->> 'blockNumber')::numeric AS arrival_block
      FROM reads
      JOIN transfers t ON t.account_id = reads.account_id AND t.state <> 'failed'
      JOIN relayed_actions r ON r.operation_id = t.run_id AND r.chain_id = t.chain_id AND r.attempt = t.attempt
        AND (r.receipt ->> 'blockNumber')::numeric <= reads.block_number
    )
    SELECT d.operation_id AS "operationId", d.account_id AS "sourceId", d.destination_id AS "receiverId", d.buy AS "assetId",
      d.expected_raw::text AS raw, d.state = 'open' AS "isOpen", d.arrived_at AS "arrivedAt",
      d.arrival_block::text AS "arrivalBlock"
    FROM outgoing d LEFT JOIN reads receiver ON receiver.account_id = d.arrived_at
    WHERE d.state = 'open' OR d.arrival_block > receiver.block_number OR d.operation_id = ANY(${[...known]}::text[])
    ORDER BY d.operation_id`

  const outgoing = Effect.fn("ValuationStore.outgoing")(function* (
    reads: ReadonlyArray<BlockRead>,
    known: ReadonlyArray<OperationId>
  ) {
    if (reads.length === 0) return []
    const rows = yield* allOutgoing(selectOutgoing(reads, known))
    return rows.map(({ arrivalBlock, arrivedAt, ...row }): OutgoingValue => ({
      ...row,
      arrival: arrivalBlock === null ? null : { accountId: arrivedAt, blockNumber: arrivalBlock }
    }))
  })

  const record = Effect.fn("ValuationStore.record")(function* (
    claimedAt: DateTime.Utc,
    valuedAt: DateTime.Utc,
    valuations: ReadonlyArray<PortfolioValuation>
  ) {
    if (valuations.length === 0) return new Set<PortfolioId>()
    const at = timestamp(valuedAt)
    // The client cannot write an array of nulls alone, so an unknown growth travels as an empty text.
    const written = yield* allWritten(sql`
      WITH given AS MATERIALIZED (
        SELECT * FROM unnest(${valuations.map(({ portfolioId }) => portfolioId)}::text[],
          ${valuations.map(({ valueUsd }) => numeric(valueUsd))}::numeric[],
          ${valuations.map(({ cashFlowUsd }) => numeric(cashFlowUsd))}::numeric[],
          ${valuations.map(({ growth }) => (growth === null ? "" : numeric(growth)))}::text[],
          ${valuations.map(({ isRebased }) => isRebased)}::boolean[],
          ${valuations.map(({ accounts }) => storableJson(encodeSnapshots(accounts)))}::text[]
        ) AS valuation (portfolio_id, value_usd, cash_flow_usd, growth, is_rebased, accounts)
      ), kept AS (
        UPDATE portfolio_snapshots s SET taken_at = ${at}, accounts = given.accounts::jsonb
        FROM given WHERE s.portfolio_id = given.portfolio_id AND s.claimed_at = ${timestamp(claimedAt)}
        RETURNING s.portfolio_id
      )
      INSERT INTO portfolio_valuations AS v (portfolio_id, day, value_usd, cash_flow_usd, growth, is_rebased, valued_at)
      SELECT given.portfolio_id, DATE '1970-01-01' + ${Day.of(valuedAt)}::int, given.value_usd, given.cash_flow_usd,
        nullif(given.growth, '')::numeric, given.is_rebased, ${at}::timestamptz
      FROM given JOIN kept ON kept.portfolio_id = given.portfolio_id
      ORDER BY given.portfolio_id
      ON CONFLICT (portfolio_id, day) DO UPDATE SET value_usd = excluded.value_usd,
        cash_flow_usd = v.cash_flow_usd + excluded.cash_flow_usd,
        growth = CASE WHEN excluded.is_rebased THEN excluded.growth
          ELSE coalesce(trunc(v.growth * excluded.growth, 18), v.growth, excluded.growth) END,
        is_rebased = v.is_rebased OR excluded.is_rebased, valued_at = excluded.valued_at
      RETURNING v.portfolio_id AS "portfolioId"`)
    return new Set(written.map(({ portfolioId }) => portfolioId))
  })

  const days = Effect.fn("ValuationStore.days")((portfolioId: PortfolioId, from: Day.Day) =>
    allDays(sql`
      SELECT day - DATE '1970-01-01' AS day, value_usd AS "valueUsd", cash_flow_usd AS "cashFlowUsd", growth,
        is_rebased AS "isRebased"
      FROM portfolio_valuations
      WHERE portfolio_id = ${portfolioId} AND day >= DATE '1970-01-01' + ${from}::int ORDER BY day`)
  )

  return ValuationStore.of({ claim, accountsOf, take, trades, outgoing, record, days })
})

export const layer = Layer.effect(ValuationStore, make)
