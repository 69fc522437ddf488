/** The one query shape that reads portfolios, and the domain value of its rows. */
import { DateTime } from "effect"
import type { ChainId, AccountId, WalletId } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import type { OperationId, PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import { type OperationKind, type OperationState, stateEvent } from "#domain/operation/Operation.ts"
import type { OperationOutcome } from "#domain/operation/OperationResult.ts"
import type { AttentionFacts } from "#domain/portfolio/Attention.ts"
import type { StoredPortfolio } from "#domain/portfolio/PortfolioDetail.ts"
import type { Portfolio, ScheduleStatus } from "#domain/portfolio/Portfolio.ts"
import { gasWaits, readingWaits, receiptWaits, transferUnclear } from "#domain/operation/waits.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import { labelsOfRow } from "#layers/sql/labelColumns.ts"

/** Columns of a portfolio `p`, its strategy `s`, the terms `m` on which it follows it, and its schedule `c`. */
const portfolioColumns = `
    p.portfolio_id, p.tenant_id, p.name, p.owner_account_id, p.strategy_id, s.name AS strategy_name,
    s.description AS strategy_description, slower_frequency(s.frequency, m.frequency) AS frequency, p.strategy_version,
    p.account_ids, p.guarded_account_ids, p.wallet_role_id, p.last_rebalance_at,
    p.created_at, p.updated_at, p.external_id, p.metadata, p.revoked_at IS NOT NULL AS is_revoked, c.status, c.due_at,
    c.checked_at, c.pause_note`

const portfolioTables = `portfolios p
  JOIN strategies s ON s.strategy_id = p.strategy_id
  LEFT JOIN mirror_terms m ON m.strategy_id = p.strategy_id AND m.tenant_id = p.tenant_id
  LEFT JOIN schedules c ON c.portfolio_id = p.portfolio_id`

/** Reads portfolios with strategy and schedule: four lookups by primary key. */
export const selectPortfolios = `SELECT ${portfolioColumns} FROM ${portfolioTables}`

/** What an operation `o` said last of its state, or of what it waits for. */
const lastWait = `
  SELECT kind, payload FROM operation_events
  WHERE operation_id = o.operation_id
    AND kind IN ('${stateEvent}', '${transferUnclear}', '${receiptWaits}', '${gasWaits}', '${readingWaits}')
  ORDER BY sequence DESC LIMIT 1`

/** Columns that say how a portfolio stands: `l` is the operation that ended last. */
const standingColumns = `
    p.revoked_at, p.permission_ends_at,
    p.wallet_role_id IS NOT NULL OR p.account_ids <@ p.guarded_account_ids AS is_guarded,
    (SELECT o.operation_id FROM operations o WHERE o.portfolio_id = p.portfolio_id AND o.finished_at IS NULL
      ORDER BY o.state = 'awaiting_user', o.submitted_at DESC LIMIT 1) AS active_operation_id,
    l.operation_id AS last_operation_id, l.kind AS last_kind, l.state AS last_state, l.outcome AS last_outcome,
    l.reason AS last_reason, l.error AS last_error, l.finished_at AS last_finished_at,
    (SELECT jsonb_agg(jsonb_build_object('chainId', r.chain_id, 'cause', r.cause, 'since', r.required_at)
    ORDER BY r.chain_id)
      FROM required_signatures r JOIN awaited_signatures a USING (portfolio_id, chain_id)
      WHERE r.portfolio_id = p.portfolio_id) AS awaited,
    (SELECT jsonb_agg(jsonb_build_object('assetId', a.asset_id, 'holder', a.holder, 'since', a.since)
    ORDER BY a.asset_id, a.holder)
      FROM foreign_authorities a WHERE a.portfolio_id = p.portfolio_id) AS authorities,
    (SELECT jsonb_agg(jsonb_build_object('operationId', o.operation_id, 'openedAt', o.submitted_at,
      'unclearSince', CASE WHEN o.state = 'retrying' THEN o.updated_at END, 'reason', e.payload ->> 'reason')
      ORDER BY o.operation_id)
      FROM operations o LEFT JOIN LATERAL (${lastWait}) e ON o.state = 'retrying'
      WHERE o.portfolio_id = p.portfolio_id AND o.finished_at IS NULL AND o.kind = 'bridge') AS open_transfers,
    (SELECT jsonb_agg(jsonb_build_object('operationId', o.operation_id, 'since', o.updated_at,
      'reason', e.payload ->> 'reason', 'waitsFor', CASE e.kind WHEN '${receiptWaits}' THEN 'outcome'
        WHEN '${gasWaits}' THEN 'gas' ELSE 'reading' END) ORDER BY o.operation_id)
      FROM operations o JOIN LATERAL (${lastWait}) e
        ON e.kind IN ('${receiptWaits}', '${gasWaits}', '${readingWaits}')
      WHERE o.portfolio_id = p.portfolio_id AND o.finished_at IS NULL AND o.state = 'retrying' AND o.kind <> 'bridge'
    ) AS unclear`

const lastEnded = `
  LEFT JOIN LATERAL (
    SELECT * FROM operations o WHERE o.portfolio_id = p.portfolio_id AND o.finished_at IS NOT NULL
    ORDER BY o.submitted_at DESC, o.operation_id DESC LIMIT 1
  ) l ON true`

export const selectDetail = `SELECT ${portfolioColumns}, ${standingColumns} FROM ${portfolioTables}${lastEnded}`

export interface PortfolioRow {
  readonly portfolio_id: PortfolioId
  readonly tenant_id: TenantId
  readonly name: string | null
  readonly owner_account_id: WalletId
  readonly strategy_id: StrategyId
  readonly strategy_name: string
  readonly strategy_description: string | null
  readonly frequency: Frequency
  readonly strategy_version: number
  readonly account_ids: ReadonlyArray<AccountId>
  readonly guarded_account_ids: ReadonlyArray<AccountId>
  readonly wallet_role_id: number | null
  readonly last_rebalance_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly external_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly is_revoked: boolean
  readonly status: ScheduleStatus | null
  readonly due_at: Date | null
  readonly checked_at: Date | null
  readonly pause_note: string | null
}

const utcOrNull = (at: Date | null) => (at === null ? null : DateTime.makeUnsafe(at))

/**
 * The busiest read of the service, so the columns are taken as they are: every one is typed and constrained by the
 * database and written only by stores.
 */
export const toPortfolio = (row: PortfolioRow): Portfolio => ({
  portfolioId: row.portfolio_id,
  tenantId: row.tenant_id,
  name: row.name,
  ownerAccountId: row.owner_account_id,
  strategyId: row.strategy_id,
  strategyName: row.strategy_name,
  strategyDescription: row.strategy_description,
  strategyVersion: row.strategy_version,
  smartAccounts: row.account_ids,
  guardedAccounts: row.guarded_account_ids,
  ...(row.wallet_role_id === null ? {} : { walletRoleId: row.wallet_role_id }),
  schedule:
    row.status === null || row.due_at === null
      ? null
      : {
          status: row.status,
          pauseReason: row.status === "active" ? null : row.is_revoked ? "revoked" : "stopped",
          pauseNote: row.status === "active" ? null : row.pause_note,
          frequency: row.frequency,
          nextDueAt: DateTime.makeUnsafe(row.due_at),
          lastRebalanceAt: utcOrNull(row.last_rebalance_at),
          lastCheckedAt: utcOrNull(row.checked_at)
        },
  createdAt: DateTime.makeUnsafe(row.created_at),
  updatedAt: DateTime.makeUnsafe(row.updated_at),
  ...labelsOfRow({ externalId: row.external_id, metadata: row.metadata })
})

export interface DetailRow extends PortfolioRow {
  readonly revoked_at: Date | null
  readonly permission_ends_at: Date | null
  readonly is_guarded: boolean
  readonly active_operation_id: OperationId | null
  readonly last_operation_id: OperationId | null
  readonly last_kind: string
  readonly last_state: string
  readonly last_outcome: string | null
  readonly last_reason: string | null
  readonly last_error: string | null
  readonly last_finished_at: Date
  readonly awaited: ReadonlyArray<{ readonly chainId: ChainId; readonly cause: string; readonly since: string }> | null
  readonly authorities: ReadonlyArray<ForeignAuthority & { readonly since: string }> | null
  readonly open_transfers: ReadonlyArray<{
    readonly operationId: OperationId
    readonly openedAt: string
    readonly unclearSince: string | null
    readonly reason: string | null
  }> | null
  readonly unclear: ReadonlyArray<{
    readonly operationId: OperationId
    readonly waitsFor: AttentionFacts["unclear"][number]["waitsFor"]
    readonly since: string
    readonly reason: string | null
  }> | null
}

export const toDetail = (row: DetailRow): StoredPortfolio => {
  const portfolio = toPortfolio(row)
  const lastId = row.last_operation_id
  const at = lastId === null ? null : DateTime.makeUnsafe(row.last_finished_at)
  const { last_error: error, last_state: state } = row
  return {
    ...portfolio,
    activeOperationId: row.active_operation_id,
    lastOperation:
      lastId === null || at === null
        ? null
        : {
            operationId: lastId,
            kind: row.last_kind as OperationKind,
            state: state as OperationState,
            outcome: row.last_outcome as OperationOutcome | null,
            reason: row.last_reason ?? error,
            finishedAt: at
          },
    facts: {
      portfolioId: portfolio.portfolioId,
      createdAt: portfolio.createdAt,
      revokedAt: utcOrNull(row.revoked_at),
      permissionEndsAt: utcOrNull(row.permission_ends_at),
      isGuarded: row.is_guarded,
      awaited: (row.awaited ?? []).map(({ since, ...wait }) => ({ ...wait, since: DateTime.makeUnsafe(since) })),
      authorities: (row.authorities ?? []).map(({ since, ...found }) => ({
        ...found,
        since: DateTime.makeUnsafe(since)
      })),
      lastRun:
        lastId === null || at === null || row.last_kind !== "rebalance"
          ? null
          : { operationId: lastId, hasFailed: state === "failed", at, error },
      openTransfers: (row.open_transfers ?? []).map(({ openedAt, unclearSince, ...transfer }) => ({
        ...transfer,
        openedAt: DateTime.makeUnsafe(openedAt),
        unclearSince: unclearSince === null ? null : DateTime.makeUnsafe(unclearSince)
      })),
      unclear: (row.unclear ?? []).map(({ since, ...wait }) => ({ ...wait, since: DateTime.makeUnsafe(since) }))
    }
  }
}
