/**
 * Rows of signed transactions, as the attempts that they include see them: the newest bytes, and the hashes of those
 * replaced.
 */
import { Schema } from "effect"
import { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { Bytes32, HexBytes } from "#domain/account/Authorization.ts"
import { OperationId } from "#domain/values/Ids.ts"
import type { StoredTransaction } from "#domain/relay/RelayStore.ts"
import { decodeRows, Numeric, SmallBigint, Timestamp } from "#layers/sql/rows.ts"

/** Ends with the attempt's row as `a`, for a condition to follow. */
export const selectActions = `
  SELECT a.operation_id AS "operationId", a.chain_id AS "chainId", a.attempt, a.action_hash AS "actionHash",
    a.relayer, a.nonce, a.found_from AS "fromBlock", o.state = 'retrying' AS "isRetrying"
  FROM relayed_actions a JOIN operations o ON o.operation_id = a.operation_id`

/** Ends with the transaction's row as `t`. The bytes are read once, however many attempts they include. */
export const selectTransactions = `
  SELECT t.chain_id AS "chainId", t.relayer, t.nonce, t.action_count AS "actionCount", t.tx_hash AS "txHash", t.raw,
    t.fee_ceiling AS "feeCeiling", t.held_since IS NOT NULL AS "isHeld",
    coalesce(r.signed_at, t.created_at) AS "signedAt", coalesce(r.replacements, '[]'::jsonb) AS replacements
  FROM relayed_transactions t
  LEFT JOIN LATERAL (
    SELECT max(r.created_at) AS signed_at,
      jsonb_agg(jsonb_build_object('txHash', r.tx_hash, 'raw', r.raw, 'cancels', r.cancels) ORDER BY r.replacement)
        AS replacements
    FROM relayed_replacements r WHERE (r.chain_id, r.relayer, r.nonce) = (t.chain_id, t.relayer, t.nonce)
  ) r ON true`

const place = {
  chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)),
  relayer: EvmAddress,
  nonce: SmallBigint
}

const OrderRow = Schema.Struct({
  ...place,
  operationId: OperationId,
  attempt: Schema.Int,
  actionHash: Bytes32,
  fromBlock: Numeric,
  isRetrying: Schema.Boolean
})
export type OrderRow = typeof OrderRow.Type

const TransactionRow = Schema.Struct({
  ...place,
  actionCount: Schema.Int,
  txHash: Bytes32,
  raw: HexBytes,
  signedAt: Timestamp,
  feeCeiling: Schema.NullOr(Numeric),
  isHeld: Schema.Boolean,
  replacements: Schema.Array(Schema.Struct({ txHash: Bytes32, raw: HexBytes, cancels: Schema.Boolean }))
})
export type TransactionRow = typeof TransactionRow.Type

export const allActions = decodeRows(OrderRow)
export const allTransactions = decodeRows(TransactionRow)

/** Names a nonce. */
export const nonceKey = ({ chainId, nonce, relayer }: Pick<OrderRow, keyof typeof place>): string =>
  `${chainId} ${relayer} ${nonce}`

export const toStored = (action: OrderRow, row: TransactionRow): StoredTransaction => {
  const { actionHash, attempt, chainId, fromBlock, isRetrying, nonce, operationId, relayer } = action
  const all = [{ txHash: row.txHash, raw: row.raw, cancels: false }, ...row.replacements]
  const { cancels, raw, txHash } = all.at(-1)!
  const cancelled = all.findLast((one) => !one.cancels)!
  return {
    attempt: { operationId, chainId, attempt },
    transaction: {
      chainId,
      actionHash,
      relayer,
      nonce,
      txHash,
      raw,
      fromBlock,
      ...(row.actionCount > 1 ? { actionCount: row.actionCount } : {}),
      replaces: all.slice(0, -1).map((earlier) => earlier.txHash),
      ...(cancels ? { cancels: cancelled.raw } : {})
    },
    signedAt: row.signedAt,
    isRetrying,
    feeCeiling: row.feeCeiling,
    isHeld: row.isHeld
  }
}
