/** Valuations of portfolios in PostgreSQL. The row of the last valuation is also the one by which processes claim. */
import { DateTime, Effect, Exit, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId, type AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { PortfolioId } from "#domain/values/Ids.ts"
import type { PortfolioValuation } from "#domain/performance/Valuation.ts"
import { type ClaimQuery, type TakenPortfolio, ValuationStore } from "#domain/performance/ValuationStore.ts"
import { AllocationColumn, Wad } from "#layers/sql/allocationColumns.ts"
import { batchedStatement } from "#layers/sql/batchedStatement.ts"
import { allPortfolios, allTaken, byAccount, encodeSnapshots } from "#layers/sql/performance/snapshotRows.ts"
import { makeValuedTrades } from "#layers/sql/performance/valuedTrades.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const allAccounts = decodeRows(Schema.Struct({ portfolioId: PortfolioId, accountIds: Schema.Array(AccountId) }))
const allWritten = decodeRows(Schema.Struct({ portfolioId: PortfolioId, claimedAt: Timestamp }))
const allTargets = decodeRows(Schema.Struct({ portfolioId: PortfolioId, allocation: AllocationColumn }))
const allDays = decodeRows(
  Schema.Struct({
    day: Day.Day,
    valueUsd: Wad,
    cashFlowUsd: Wad,
    growth: Schema.NullOr(Wad),
    isRebased: Schema.Boolean
  })
)

const numeric = (value: bigint): string => Decimal.format(value, 18)

interface Taking {
  readonly portfolioId: PortfolioId
  readonly now: DateTime.Utc
}

interface Recording {
  readonly claimedAt: DateTime.Utc
  readonly valuedAt: DateTime.Utc
  readonly valuations: ReadonlyArray<PortfolioValuation>
}

type Given = PortfolioValuation & Omit<Recording, "valuations">

/** Finds the portfolios that a recording wrote for its claim. */
const writtenOf = (
  { claimedAt, valuations }: Recording,
  rows: ReadonlyArray<{ readonly portfolioId: PortfolioId; readonly claimedAt: DateTime.Utc }>
): ReadonlySet<PortfolioId> => {
  const own = new Set(valuations.map(({ portfolioId }) => portfolioId))
  const isOwn = (row: (typeof rows)[number]) =>
    own.has(row.portfolioId) && DateTime.Equivalence(row.claimedAt, claimedAt)
  return new Set(rows.filter(isOwn).map(({ portfolioId }) => portfolioId))
}

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

  const accountsOf = yield* batchedStatement((portfolioIds: ReadonlyArray<PortfolioId>) =>
    Effect.map(
      allAccounts(sql`
          SELECT portfolio_id AS "portfolioId", account_ids AS "accountIds" FROM portfolios
          WHERE portfolio_id = ANY(${portfolioIds}::text[]) AND archived_at IS NULL`),
      (rows) => {
        const found = new Map(rows.map(({ accountIds, portfolioId }) => [portfolioId, accountIds]))
        return portfolioIds.map((portfolioId) => found.get(portfolioId) ?? [])
      }
    )
  )

  const targets = Effect.fn("ValuationStore.targets")(function* (portfolioIds: ReadonlyArray<PortfolioId>) {
    if (portfolioIds.length === 0) return new Map<PortfolioId, ReadonlySet<AssetId>>()
    const rows = yield* allTargets(sql`
      SELECT p.portfolio_id AS "portfolioId", v.allocation
      FROM portfolios p JOIN strategies s USING (strategy_id)
      JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version
      WHERE p.portfolio_id = ANY(${portfolioIds}::text[])`)
    return new Map(
      rows.map(({ allocation, portfolioId }) => [portfolioId, new Set(allocation.map(({ assetId }) => assetId))])
    )
  })

  // A claim is known by its moment, so each is later than the one before.
  const takeOf = yield* batchedStatement(
    (takings: ReadonlyArray<Taking>) =>
      Effect.map(
        allTaken(sql`
          WITH wanted AS MATERIALIZED (
            SELECT * FROM unnest(${takings.map(({ portfolioId }) => portfolioId)}::text[],
              ${takings.map(({ now }) => timestamp(now))}::timestamptz[]) AS taking (portfolio_id, at)
          ), claimed AS (
            INSERT INTO portfolio_snapshots AS s (portfolio_id, claimed_at)
            SELECT portfolio_id, wanted.at FROM portfolios JOIN wanted USING (portfolio_id)
            WHERE archived_at IS NULL ORDER BY portfolio_id
            ON CONFLICT (portfolio_id) DO UPDATE
              SET claimed_at = greatest(excluded.claimed_at, s.claimed_at + interval '1 millisecond')
            RETURNING portfolio_id, claimed_at, accounts
          )
          SELECT p.portfolio_id AS "portfolioId", p.account_ids AS "accountIds", claimed.claimed_at AS "claimedAt",
            claimed.accounts
          FROM claimed JOIN portfolios p ON p.portfolio_id = claimed.portfolio_id`),
        (rows) => {
          const found = new Map(
            rows.map(({ accountIds, accounts, claimedAt, portfolioId }): [PortfolioId, TakenPortfolio] => [
              portfolioId,
              { portfolio: { portfolioId, accountIds, before: byAccount(accounts ?? []) }, claimedAt }
            ])
          )
          return takings.map(({ portfolioId }) => Option.fromUndefinedOr(found.get(portfolioId)))
        }
      ),
    ({ portfolioId }) => portfolioId
  )
  const take = (portfolioId: PortfolioId, now: DateTime.Utc) => takeOf({ portfolioId, now })

  // Rows are locked in the order of ids, as claims of a page lock them. The client cannot write an array of nulls
  // alone, so an unknown growth travels as an empty text.
  const write = (given: ReadonlyArray<Given>) => sql`
    WITH given AS MATERIALIZED (
      SELECT * FROM unnest(${given.map(({ portfolioId }) => portfolioId)}::text[],
        ${given.map(({ claimedAt }) => timestamp(claimedAt))}::timestamptz[],
        ${given.map(({ valuedAt }) => timestamp(valuedAt))}::timestamptz[],
        ${given.map(({ valuedAt }) => Day.of(valuedAt))}::int[],
        ${given.map(({ valueUsd }) => numeric(valueUsd))}::numeric[],
        ${given.map(({ cashFlowUsd }) => numeric(cashFlowUsd))}::numeric[],
        ${given.map(({ growth }) => (growth === null ? "" : numeric(growth)))}::text[],
        ${given.map(({ isRebased }) => isRebased)}::boolean[],
        ${given.map(({ accounts }) => storableJson(encodeSnapshots(accounts)))}::text[]
      ) AS valuation (portfolio_id, claimed_at, at, day, value_usd, cash_flow_usd, growth, is_rebased, accounts)
    ), locked AS MATERIALIZED (
      SELECT s.portfolio_id, s.claimed_at FROM portfolio_snapshots s
      JOIN given ON s.portfolio_id = given.portfolio_id AND s.claimed_at = given.claimed_at
      ORDER BY s.portfolio_id FOR NO KEY UPDATE OF s
    ), kept AS (
      UPDATE portfolio_snapshots s SET taken_at = given.at, accounts = given.accounts::jsonb
      FROM given JOIN locked USING (portfolio_id, claimed_at)
      WHERE s.portfolio_id = given.portfolio_id AND s.claimed_at = given.claimed_at
      RETURNING s.portfolio_id, s.claimed_at
    ), written AS (
      INSERT INTO portfolio_valuations AS v (portfolio_id, day, value_usd, cash_flow_usd, growth, is_rebased, valued_at)
      SELECT given.portfolio_id, DATE '1970-01-01' + given.day, given.value_usd, given.cash_flow_usd,
        nullif(given.growth, '')::numeric, given.is_rebased, given.at
      FROM given JOIN kept USING (portfolio_id, claimed_at)
      ORDER BY given.portfolio_id
      ON CONFLICT (portfolio_id, day) DO UPDATE SET value_usd = excluded.value_usd,
        cash_flow_usd = v.cash_flow_usd + excluded.cash_flow_usd,
        growth = CASE WHEN excluded.is_rebased THEN excluded.growth
          ELSE coalesce(trunc(v.growth * excluded.growth, 18), v.growth, excluded.growth) END,
        is_rebased = v.is_rebased OR excluded.is_rebased, valued_at = excluded.valued_at
      RETURNING v.portfolio_id
    )
    SELECT kept.portfolio_id AS "portfolioId", kept.claimed_at AS "claimedAt" FROM kept JOIN written
    USING (portfolio_id)`

  // Of two concurrent records of a portfolio the claim of one holds, which is known by its moment. A statement whose
  // answer was lost may have been carried out, and would add its flows a second time: it is not repeated for each.
  const recordOf = yield* batchedStatement((recordings: ReadonlyArray<Recording>) =>
    allWritten(
      write(
        recordings.flatMap(({ claimedAt, valuations, valuedAt }) =>
          valuations.map((valuation) => ({ ...valuation, claimedAt, valuedAt }))
        )
      )
    ).pipe(
      Effect.exit,
      Effect.map((exit) => recordings.map((recording) => Exit.map(exit, (rows) => writtenOf(recording, rows))))
    )
  )
  const record = Effect.fnUntraced(function* (
    claimedAt: DateTime.Utc,
    valuedAt: DateTime.Utc,
    valuations: ReadonlyArray<PortfolioValuation>
  ) {
    if (valuations.length === 0) return new Set<PortfolioId>()
    return yield* yield* recordOf({ claimedAt, valuedAt, valuations })
  })

  const days = Effect.fn("ValuationStore.days")((portfolioId: PortfolioId, from: Day.Day) =>
    allDays(sql`
      SELECT day - DATE '1970-01-01' AS day, value_usd AS "valueUsd", cash_flow_usd AS "cashFlowUsd", growth,
        is_rebased AS "isRebased"
      FROM portfolio_valuations
      WHERE portfolio_id = ${portfolioId} AND day >= DATE '1970-01-01' + ${from}::int ORDER BY day`)
  )

  const { outgoing, trades } = yield* makeValuedTrades

  return ValuationStore.of({ claim, accountsOf, targets, take, trades, outgoing, record, days })
})

export const layer = Layer.effect(ValuationStore, make)
