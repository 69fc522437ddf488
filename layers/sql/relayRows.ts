/** Rows of signed transactions: each attempt's newest, and the hashes of those that it replaced. */
import { Effect, Option, Schema } from "effect"
import { ChainId, EvmAddress } from "#domain/Caip.ts"
import { Bytes32, HexBytes } from "#domain/enrollment/Authorization.ts"
import { OperationId } from "#domain/Ids.ts"
import type { StoredTransaction } from "#domain/relay/RelayStore.ts"
import { decodeFirst, Numeric, SmallBigint, Timestamp } from "#layers/sql/rows.ts"

/** Ends with the attempt's row as `t`, for a condition to follow. */
export const selectSigned = `
  SELECT t.operation_id AS "operationId", t.chain_id AS "chainId", t.attempt, t.subject, t.relayer, t.nonce,
    t.tx_hash AS "txHash", t.raw, t.from_block AS "fromBlock",
    coalesce((SELECT max(r.created_at) FROM relayed_replacements r WHERE (r.operation_id, r.chain_id, r.attempt)
      = (t.operation_id, t.chain_id, t.attempt)), t.created_at) AS "signedAt",
    coalesce((SELECT jsonb_agg(jsonb_build_object('txHash', r.tx_hash, 'raw', r.raw) ORDER BY r.replacement)
      FROM relayed_replacements r WHERE (r.operation_id, r.chain_id, r.attempt)
      = (t.operation_id, t.chain_id, t.attempt)), '[]'::jsonb) AS replacements
  FROM relayed_transactions t`

const Row = Schema.Struct({
  operationId: OperationId,
  chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)),
  attempt: Schema.Int,
  subject: Bytes32,
  relayer: EvmAddress,
  nonce: SmallBigint,
  txHash: Bytes32,
  raw: HexBytes,
  fromBlock: Numeric,
  signedAt: Timestamp,
  replacements: Schema.Array(Schema.Struct({ txHash: Bytes32, raw: HexBytes }))
})

const firstRow = decodeFirst(Row)

const toStored = (row: typeof Row.Type): StoredTransaction => {
  const { attempt, chainId, fromBlock, nonce, operationId, relayer, signedAt, subject } = row
  const all = [{ txHash: row.txHash, raw: row.raw }, ...row.replacements]
  const { raw, txHash } = all.at(-1)!
  return {
    attempt: { operationId, chainId, attempt },
    transaction: {
      chainId,
      subject,
      relayer,
      nonce,
      txHash,
      raw,
      fromBlock,
      replaces: all.slice(0, -1).map((earlier) => earlier.txHash)
    },
    signedAt
  }
}

export const firstSigned = (query: Parameters<typeof firstRow>[0]) => Effect.map(firstRow(query), Option.map(toStored))
