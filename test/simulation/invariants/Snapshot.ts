/**
 * What the database of a simulation holds, as far as invariants check it after each commit: read in one statement.
 */
import { Effect } from "effect"
import type { SqlConnection } from "effect/sql"

export interface OperationRow {
  readonly id: string
  readonly portfolio: string
  readonly kind: string
  readonly trigger: string
  readonly state: string
  readonly error: string | null
  /** Unix milliseconds. */
  readonly submitted: number
  readonly finished: number | null
  readonly last: number
  readonly events: ReadonlyArray<{ readonly n: number; readonly kind: string; readonly state: string | null }>
}

export interface RelayedRow {
  readonly operation: string
  readonly chain: number
  readonly attempt: number
  readonly account: string
  readonly actionHash: string
  readonly relayer: string
  readonly nonce: number
  /** Hashes of the transaction's first bytes and of all that replaced them. */
  readonly hashes: ReadonlyArray<string>
  /** How many actions the transaction says that it includes, and the hashes of those that there are. */
  readonly actionCount: number
  readonly members: ReadonlyArray<string>
  readonly status: "signed" | "succeeded" | "reverted"
  readonly receipt: {
    readonly txHash: string
    readonly isBundleReverted?: boolean
    readonly deltas: ReadonlyArray<{ readonly assetId: string; readonly raw: string }>
  } | null
}

export interface TransferRow {
  readonly operation: string
  readonly txHash: string
  readonly position: number
  readonly sell: string
  readonly buy: string
  readonly amount: string
  readonly state: string
  readonly received: { readonly assetId: string; readonly raw: string; readonly txHash: string } | null
}

export interface WithdrawalRow {
  readonly operation: string
  readonly account: string
  readonly nonce: string
  readonly state: string
  readonly finished: number | null
  readonly delivered: ReadonlyArray<{ readonly assetId: string; readonly amountRaw: string }> | null
}

export interface ScheduleRow {
  readonly portfolio: string
  readonly status: string
  readonly due: number | null
}

export interface Snapshot {
  readonly operations: ReadonlyArray<OperationRow>
  readonly relayed: ReadonlyArray<RelayedRow>
  readonly transfers: ReadonlyArray<TransferRow>
  /** Hashes of the actions that are announced. */
  readonly announced: ReadonlyArray<string>
  readonly withdrawals: ReadonlyArray<WithdrawalRow>
  readonly schedules: ReadonlyArray<ScheduleRow>
  readonly unfinishedRuns: number
}

const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`

const rows = (columns: string, from: string) =>
  `(SELECT coalesce(jsonb_agg(jsonb_build_object(${columns})), '[]'::jsonb) FROM ${from})`

/** Rows that changed at `$1` or later, and everything that is unfinished. */
const statement = `SELECT jsonb_build_object(
  'operations', ${rows(
    `'id', operation_id, 'portfolio', portfolio_id, 'kind', kind, 'trigger', trigger, 'state', state, 'error', error,
      'submitted', ${ms("submitted_at")}, 'finished', ${ms("finished_at")}, 'last', last_sequence, 'events',
      (SELECT coalesce(jsonb_agg(jsonb_build_object('n', e.sequence, 'kind', e.kind, 'state', e.payload ->> 'state')
        ORDER BY e.sequence), '[]'::jsonb) FROM operation_events e WHERE e.operation_id = o.operation_id)`,
    "operations o WHERE finished_at IS NULL OR updated_at >= $1"
  )},
  'relayed', ${rows(
    `'operation', operation_id, 'chain', chain_id, 'attempt', attempt, 'account', account_id, 'actionHash', action_hash,
      'relayer', relayer, 'nonce', nonce, 'status', status, 'receipt', receipt, 'actionCount', t.action_count, 'hashes',
      (SELECT coalesce(jsonb_agg(x.tx_hash), '[]'::jsonb) FROM relayed_replacements x
        WHERE (x.chain_id, x.relayer, x.nonce) = (t.chain_id, t.relayer, t.nonce)) || jsonb_build_array(t.tx_hash),
      'members', (SELECT jsonb_agg(m.action_hash) FROM relayed_actions m
        WHERE (m.chain_id, m.relayer, m.nonce) = (t.chain_id, t.relayer, t.nonce))`,
    `relayed_actions JOIN relayed_transactions t USING (chain_id, relayer, nonce)
      WHERE status = 'signed' OR updated_at >= $1 OR EXISTS (SELECT FROM relayed_replacements x
        WHERE (x.chain_id, x.relayer, x.nonce) = (t.chain_id, t.relayer, t.nonce) AND x.created_at >= $1)`
  )},
  'transfers', ${rows(
    `'operation', operation_id, 'txHash', tx_hash, 'position', position, 'sell', sell, 'buy', buy,
      'amount', amount_raw::text, 'state', state, 'received', ending -> 'received'`,
    "transfers WHERE state = 'open' OR closed_at >= $1"
  )},
  'announced', (SELECT coalesce(jsonb_agg(action_hash), '[]'::jsonb) FROM transfer_intents),
  'withdrawals', ${rows(
    `'operation', w.operation_id, 'account', w.account_id, 'nonce', w.nonce, 'state', o.state,
      'finished', ${ms("o.finished_at")}, 'delivered', w.outcome -> 'delivered'`,
    "withdrawals w JOIN operations o USING (operation_id) WHERE o.finished_at IS NULL OR o.updated_at >= $1"
  )},
  'schedules', ${rows(`'portfolio', portfolio_id, 'status', status, 'due', ${ms("due_at")}`, "schedules")},
  'unfinishedRuns', (SELECT count(*) FROM workflow_messages WHERE finished_at IS NULL)
) AS snapshot`

export const readSnapshot = async (connection: SqlConnection.Connection, since: number): Promise<Snapshot> => {
  const [row] = await Effect.runPromise(connection.execute(statement, [new Date(since)], undefined))
  return (row as { readonly snapshot: Snapshot }).snapshot
}

const idle = `SELECT CASE
  WHEN EXISTS (SELECT FROM workflow_messages WHERE finished_at IS NULL AND is_claimed)
    OR EXISTS (SELECT FROM operations WHERE state = 'accepted') THEN 0
  ELSE least((SELECT min(${ms("wake_at")}) FROM workflow_messages WHERE finished_at IS NULL AND wake_at < 'infinity'),
    (SELECT min(${ms("due_at")}) FROM schedules WHERE status = 'active')) END AS until`

/** Reads until when nothing is due in the database; 0 while something is under way. */
export const readIdleUntil = async (connection: SqlConnection.Connection): Promise<number> => {
  const [row] = await Effect.runPromise(connection.execute(idle, [], undefined))
  return Number((row as { readonly until: bigint | null }).until ?? 0)
}

const closedRuns = `
  SELECT coalesce(max((route ->> 'runsLeft')::int), 0) AS runs
  FROM portfolios, jsonb_array_elements(closed_routes) AS route`

/** How many runs of a portfolio still leave out a route between chains on which transfers failed, at most. */
export const readRunsClosed = async (connection: SqlConnection.Connection): Promise<number> => {
  const [row] = await Effect.runPromise(connection.execute(closedRuns, [], undefined))
  return Number(row!["runs"])
}
