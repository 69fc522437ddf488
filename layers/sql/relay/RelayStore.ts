/** What was signed for the chains, and what became of it, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type AttemptId, attemptKey, RelayStore, type StoredTransaction } from "#domain/relay/RelayStore.ts"
import { ActionReceipt, countedGas, type SignedTransaction } from "#domain/relay/Transaction.ts"
import { batched } from "#domain/effects/batched.ts"
import {
  type OrderRow,
  allActions,
  allTransactions,
  nonceKey,
  selectActions,
  selectTransactions,
  toStored
} from "#layers/sql/relay/relayRows.ts"
import { makeHolds } from "#layers/sql/relay/holds.ts"
import { makeRelayerTurns } from "#layers/sql/relay/relayerTurns.ts"
import { makeReserve } from "#layers/sql/relay/reserve.ts"
import { timestamp } from "#layers/sql/rows.ts"
import { type Fence, holdRun, RunFence } from "#layers/sql/run/RunFence.ts"
import { storableJson } from "#layers/sql/storable.ts"

const encodeReceipt = Schema.encodeSync(ActionReceipt)

interface RecordedEnd {
  readonly attempt: AttemptId
  readonly receipt: ActionReceipt
  readonly at: DateTime.Utc
  /** The run that found it; one that another process has by now records nothing. */
  readonly fence: Fence | undefined
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const turns = makeRelayerTurns(sql, yield* Effect.flatMap(SecureRandom.SecureRandom, ({ ulid }) => ulid))

  const actionsOf = (attempts: ReadonlyArray<AttemptId>) =>
    allActions(sql`
      ${sql.literal(selectActions)}
      JOIN unnest(${attempts.map(({ operationId }) => operationId)}::text[],
        ${attempts.map(({ chainId }) => chainId)}::bigint[], ${attempts.map(({ attempt }) => attempt)}::int[])
        AS w (operation_id, chain_id, attempt)
        ON (a.operation_id, a.chain_id, a.attempt) = (w.operation_id, w.chain_id, w.attempt)`)

  /** The stored transactions of rows, each read once. */
  const withTransactions = Effect.fnUntraced(function* (actions: ReadonlyArray<OrderRow>) {
    if (actions.length === 0) return []
    const wanted = [...new Map(actions.map((action) => [nonceKey(action), action])).values()]
    const rows = yield* allTransactions(sql`
      ${sql.literal(selectTransactions)}
      JOIN unnest(${wanted.map(({ chainId }) => chainId)}::bigint[], ${wanted.map(({ relayer }) => relayer)}::text[],
        ${wanted.map(({ nonce }) => nonce)}::bigint[]) AS w (chain_id, relayer, nonce)
        ON (t.chain_id, t.relayer, t.nonce) = (w.chain_id, w.relayer, w.nonce)`)
    const transactions = new Map(rows.map((row) => [nonceKey(row), row]))
    return actions.map((action) => toStored(action, transactions.get(nonceKey(action))!))
  })

  const signed = Effect.fn("RelayStore.signed")(function* (attempts: ReadonlyArray<AttemptId>) {
    const known = new Set((yield* actionsOf(attempts)).map(attemptKey))
    return attempts.filter((attempt) => known.has(attemptKey(attempt)))
  })

  const sentAll = yield* batched(attemptKey, (attempts: ReadonlyArray<AttemptId>) =>
    Effect.gen(function* () {
      const stored = yield* withTransactions(yield* actionsOf(attempts))
      const found = new Map(stored.map((each) => [attemptKey(each.attempt), each]))
      return (attempt: AttemptId) => Option.fromUndefinedOr(found.get(attemptKey(attempt)))
    })
  )

  const relayedAt = Effect.fnUntraced(function* (chainId: ChainId, relayer: EvmAddress, nonce: number) {
    const actions = yield* allActions(sql`
      ${sql.literal(selectActions)} WHERE a.chain_id = ${chainId} AND a.relayer = ${relayer} AND a.nonce = ${nonce}
      ORDER BY a.operation_id, a.attempt LIMIT 1`)
    return Option.fromUndefinedOr((yield* withTransactions(actions))[0])
  })

  /**
   * Stores a replacement unless another one was stored since: the lock puts those in line that replace one transaction.
   */
  const storeReplacement = Effect.fnUntraced(function* (signed: SignedTransaction, replaced: string, at: DateTime.Utc) {
    const { chainId, nonce, relayer } = signed
    yield* sql`
      SELECT 1 FROM relayed_transactions
      WHERE chain_id = ${chainId} AND relayer = ${relayer} AND nonce = ${nonce} FOR NO KEY UPDATE`
    const { transaction: newest } = yield* Effect.flatMap(relayedAt(chainId, relayer, nonce), Effect.fromOption)
    if (newest.txHash !== replaced) return newest
    yield* sql`
      INSERT INTO relayed_replacements (chain_id, relayer, nonce, replacement, tx_hash, raw, cancels, created_at)
      VALUES (${chainId}, ${relayer}, ${nonce}, ${signed.replaces.length}, ${signed.txHash}, ${signed.raw},
        ${signed.cancels !== undefined}, ${timestamp(at)})`
    return signed
  }, sql.withTransaction)

  const replace = Effect.fn("RelayStore.replace")(function* (
    { transaction }: StoredTransaction,
    at: DateTime.Utc,
    sign: Effect.Effect<SignedTransaction, ChainUnavailable>
  ) {
    const { chainId, nonce, relayer, txHash } = transaction
    return yield* Effect.gen(function* () {
      const newest = yield* Effect.flatMap(relayedAt(chainId, relayer, nonce), Effect.fromOption)
      if (newest.transaction.txHash !== txHash) return newest.transaction
      return yield* storeReplacement(yield* sign, txHash, at)
    }).pipe(
      (replacing) => turns.inTurn({ chainId, relayer }, replacing),
      Effect.catchIf(
        (error) => error._tag !== "ChainUnavailable",
        (error) => Effect.die(error)
      )
    )
  })

  const recordAll = yield* batched(
    ({ attempt }: RecordedEnd) => attemptKey(attempt),
    (ended: ReadonlyArray<RecordedEnd>) =>
      Effect.gen(function* () {
        // Gas counts with the first receipt of an attempt: a receipt that is recorded again changes nothing.
        const rows = yield* sql<{ readonly key: string }>`
          WITH r AS (
            SELECT * FROM unnest(${ended.map(({ attempt }) => attempt.operationId)}::text[],
              ${ended.map(({ attempt }) => attempt.chainId)}::bigint[],
              ${ended.map(({ attempt }) => attempt.attempt)}::int[],
              ${ended.map(({ receipt }) => storableJson(encodeReceipt(receipt)))}::text[],
              ${ended.map(({ receipt }) => (receipt.success ? "succeeded" : "reverted"))}::text[],
              ${ended.map(({ at }) => timestamp(at))}::timestamptz[],
              ${ended.map(({ receipt }) => countedGas(receipt).toString())}::text[],
              ${ended.map(({ fence }) => fence?.requestId ?? "")}::text[],
              ${ended.map(({ fence }) => String(fence?.generation ?? ""))}::text[])
              AS r (operation_id, chain_id, attempt, receipt, status, at, gas, run, generation)
          ), before AS MATERIALIZED (
            SELECT a.operation_id, a.chain_id, a.attempt, a.status FROM relayed_actions a
            JOIN r ON (a.operation_id, a.chain_id, a.attempt) = (r.operation_id, r.chain_id, r.attempt)
            WHERE r.run = '' OR EXISTS (SELECT FROM workflow_messages m
              WHERE m.request_id = nullif(r.run, '')::bigint AND m.generation = nullif(r.generation, '')::bigint)
            ORDER BY a.operation_id, a.chain_id, a.attempt FOR UPDATE OF a
          ), recorded AS (
            UPDATE relayed_actions a SET receipt = r.receipt::jsonb, status = r.status, updated_at = r.at
            FROM before b JOIN r ON (b.operation_id, b.chain_id, b.attempt) = (r.operation_id, r.chain_id, r.attempt)
            WHERE (a.operation_id, a.chain_id, a.attempt) = (b.operation_id, b.chain_id, b.attempt)
            RETURNING a.operation_id, a.chain_id, a.attempt, b.status AS before, r.at, r.gas::numeric AS gas
          ), spent AS (
            INSERT INTO gas_spent (tenant_id, portfolio_id, day, gas, owner_gas)
            SELECT o.tenant_id, p.portfolio_id, (n.at AT TIME ZONE 'UTC')::date,
              coalesce(sum(n.gas) FILTER (WHERE o.kind NOT IN ('withdraw', 'revoke')), 0),
              coalesce(sum(n.gas) FILTER (WHERE o.kind IN ('withdraw', 'revoke')), 0)
            FROM recorded n JOIN operations o ON o.operation_id = n.operation_id
            CROSS JOIN LATERAL (VALUES (o.portfolio_id), ('')) AS p (portfolio_id)
            WHERE n.before = 'signed' AND n.gas > 0
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            ON CONFLICT (tenant_id, day, portfolio_id) DO UPDATE SET gas = gas_spent.gas + excluded.gas,
              owner_gas = gas_spent.owner_gas + excluded.owner_gas
          )
          SELECT operation_id || ' ' || chain_id || ' ' || attempt AS key FROM recorded`
        const recorded = new Set(rows.map(({ key }) => key))
        return ({ attempt }: RecordedEnd) => recorded.has(attemptKey(attempt))
      })
  )

  const recordReceipt = Effect.fnUntraced(function* (attempt: AttemptId, receipt: ActionReceipt, at: DateTime.Utc) {
    if (yield* recordAll({ attempt, receipt, at, fence: yield* RunFence })) return
    yield* holdRun(sql)
    return yield* Effect.die(
      new Error(
        `Attempt ${attempt.attempt} of ${attempt.operationId} on chain ${attempt.chainId} was never signed: it can have no receipt`
      )
    )
  }, Effect.orDie)

  return RelayStore.of({
    signed,
    reserve: makeReserve(sql, turns),
    sent: sentAll,
    atNonce: Effect.fn("RelayStore.atNonce")(relayedAt),
    replace,
    ...makeHolds(sql),
    recordReceipt
  })
})

export const layer = Layer.effect(RelayStore, make)
