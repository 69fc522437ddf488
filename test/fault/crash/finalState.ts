/** What is left when everything has ended: in the database, and as the chains say. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ChainId, AccountId, EvmAddress } from "#domain/values/Caip.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { type Included, ChainWitness } from "#test/fault/crash/chains/ChainWitness.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"

export interface FinalState {
  /** Operations in the order of their acceptance. */
  readonly operations: ReadonlyArray<{
    readonly kind: string
    readonly trigger: string
    readonly state: string
    readonly error: string | null
    /** Kinds of its events; of a change of state the state. */
    readonly events: ReadonlyArray<string>
    readonly report: unknown
    readonly outcome: unknown
    /** What became of each attempt on a chain. */
    readonly attempts: ReadonlyArray<{ readonly chain: number; readonly attempt: number; readonly status: string }>
  }>
  readonly transfers: ReadonlyArray<unknown>
  /** Raw units by asset, of each account on its chain. */
  readonly balances: Readonly<Record<string, string>>
  /** What the chain included for each account. */
  readonly included: Readonly<Record<string, ReadonlyArray<Included>>>
  /** Claims of withdrawal nonces by what became of them. */
  readonly claims: ReadonlyArray<unknown>
  /** What must be nothing: announcements, executions and operations that are not finished. */
  readonly left: { readonly intents: number; readonly executions: number; readonly operations: number }
  /** Nonces of each of the relayer's accounts on each chain: signed with, the highest, and used on the chain. */
  readonly nonces: ReadonlyArray<{ readonly signed: number; readonly highest: number; readonly used: number }>
}

const balancesOf = Effect.fnUntraced(function* (accounts: ReadonlyArray<AccountId>) {
  const balances = yield* Balances
  const assets = yield* AssetStore
  const read: Record<string, string> = {}
  for (const account of accounts) {
    const known = yield* assets.onChain(chainIdOf(account))
    const answer = yield* balances.read(
      account,
      known.map(({ assetId }) => assetId)
    )
    for (const { assetId, raw } of answer.balances) read[assetId] = raw === null ? "unknown" : raw.toString()
  }
  return read
})

const noncesOf = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient.SqlClient
  const witness = yield* ChainWitness
  const rows = yield* sql<{
    readonly chain: number
    readonly relayer: string
    readonly signed: number
    readonly highest: number
  }>`
    SELECT chain_id::int AS chain, relayer, count(DISTINCT nonce)::int AS signed, max(nonce)::int AS highest
    FROM relayed_transactions GROUP BY 1, 2 ORDER BY 1, 2`
  return yield* Effect.forEach(rows, ({ chain, highest, relayer: account, signed }) =>
    Effect.map(witness.usedNonces(chain as ChainId, account as EvmAddress), (used) => ({ signed, highest, used }))
  )
})

export const finalState = Effect.fnUntraced(function* ({ accounts, portfolioId }: Begun) {
  const sql = yield* SqlClient.SqlClient
  const witness = yield* ChainWitness
  const operations = yield* sql<FinalState["operations"][number]>`
    SELECT o.kind, o.trigger, o.state, o.error,
      (SELECT jsonb_agg(CASE WHEN e.kind = 'state' THEN e.payload ->> 'state' ELSE e.kind END ORDER BY e.sequence)
        FROM operation_events e WHERE e.operation_id = o.operation_id) AS events,
      (SELECT r.report FROM rebalance_runs r WHERE r.operation_id = o.operation_id) AS report,
      coalesce((SELECT w.outcome FROM withdrawals w WHERE w.operation_id = o.operation_id),
        (SELECT a.outcome FROM orders a WHERE a.operation_id = o.operation_id)) AS outcome,
      coalesce((SELECT jsonb_agg(jsonb_build_object('chain', t.chain_id, 'attempt', t.attempt, 'status', t.status)
        ORDER BY t.chain_id, t.attempt)
        FROM relayed_actions t WHERE t.operation_id = o.operation_id), '[]'::jsonb) AS attempts
    FROM operations o WHERE o.portfolio_id = ${portfolioId} ORDER BY o.submitted_at, o.operation_id`
  const transfers = yield* sql`
    SELECT chain_id::int AS chain, attempt, position, sell, buy, amount_raw::text AS "amountRaw",
      min_raw::text AS "minRaw", expected_raw::text AS "expectedRaw", tool, state, ending
    FROM transfers WHERE portfolio_id = ${portfolioId} ORDER BY opened_at, operation_id`
  const claims = yield* sql`
    SELECT c.operation_id IS NOT NULL AS accepted FROM withdrawal_claims c
    JOIN portfolios p ON p.tenant_id = c.tenant_id WHERE p.portfolio_id = ${portfolioId}`
  const [left] = yield* sql<FinalState["left"]>`
    SELECT (SELECT count(*)::int FROM transfer_intents WHERE portfolio_id = ${portfolioId}) AS intents,
      (SELECT count(*)::int FROM workflow_messages WHERE finished_at IS NULL) AS executions,
      (SELECT count(*)::int FROM operations WHERE finished_at IS NULL) AS operations`
  const included: Record<string, ReadonlyArray<Included>> = {}
  for (const account of accounts) {
    const all = yield* witness.included(account)
    included[chainIdOf(account)] = all.map(({ byRelayer, success }) => ({ byRelayer, success }))
  }
  const state: FinalState = {
    operations,
    transfers,
    balances: yield* balancesOf(accounts),
    included,
    claims,
    left: left!,
    nonces: yield* noncesOf()
  }
  return state
})
