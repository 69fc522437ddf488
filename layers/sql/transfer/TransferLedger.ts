/** The ledger of value between chains, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { AccountId, Address, AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { makeOperationId, OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { type Transfer, TransferEnd, TransferState } from "#domain/transfer/Transfer.ts"
import { resultOfTransfer } from "#domain/transfer/resultOfTransfer.ts"
import type { Claims } from "#domain/transfer/transferEnd.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import {
  type TransferIntent,
  type OpenedTransfers,
  type TransferClosing,
  TransferLedger,
  receiverOf
} from "#domain/transfer/TransferLedger.ts"
import { batched } from "#domain/effects/batched.ts"
import { changeState, firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { decodeFirst, decodeRows, Numeric, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"
import { holdRun } from "#layers/sql/run/RunFence.ts"

const selectTransfers = `
  SELECT operation_id AS "operationId", portfolio_id AS "portfolioId", account_id AS "accountId",
    destination_id AS "receiverId", sell, buy, amount_raw AS "amountRaw", min_raw AS "minRaw",
    expected_raw AS "expectedRaw", bridge_address AS "bridgeAddress", tool, tx_hash AS "txHash", state,
    opened_at AS "openedAt"
  FROM transfers`

const selectIntents = `
  SELECT d.run_id AS "runId", d.attempt, d.account_id AS "accountId", d.action_hash AS "actionHash",
    d.found_from AS "fromBlock", d.transfers, d.announced_at AS at
  FROM transfer_intents d`

const TransferRow = Schema.Struct({
  operationId: OperationId,
  portfolioId: PortfolioId,
  accountId: AccountId,
  receiverId: AccountId,
  sell: AssetId,
  buy: AssetId,
  amountRaw: Numeric,
  minRaw: Numeric,
  expectedRaw: Numeric,
  bridgeAddress: Address,
  tool: Schema.String,
  txHash: Schema.String,
  state: TransferState,
  openedAt: Timestamp
})

const allTransfers = decodeRows(TransferRow)
const firstTransfer = decodeFirst(TransferRow)
const allIds = decodeRows(Schema.Struct({ operationId: OperationId }))
const firstEnd = decodeFirst(Schema.Struct({ ending: Schema.toCodecJson(TransferEnd) }))
const allReceived = decodeRows(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString }))
const { amountRaw, buy, minRaw, sell, tool, txHash } = TransferRow.fields
const firstOpen = decodeFirst(Schema.Struct({ portfolioId: PortfolioId, sell, buy, amountRaw, minRaw, tool, txHash }))
const TransferIntentRow = Schema.Struct({
  runId: OperationId,
  attempt: Schema.Int,
  accountId: AccountId,
  actionHash: Schema.String,
  fromBlock: Numeric,
  transfers: Schema.Array(OutgoingTransfer),
  at: Timestamp
})
const allIntents = decodeRows(TransferIntentRow)
const encodeTransfers = Schema.encodeSync(Schema.toCodecJson(Schema.Array(OutgoingTransfer)))
const encodeEnd = Schema.encodeSync(Schema.toCodecJson(TransferEnd))

/** How a bridge operation ends: what is neither delivered nor back where it came from has failed. */
const operationEnd = ({ reason, state }: TransferEnd) =>
  state === "delivered"
    ? ({ to: "completed", error: null } as const)
    : ({ to: "failed", error: reason ?? state } as const)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom

  const opened = ({ accountId, attempt, runId }: OpenedTransfers) =>
    allIds(sql`
      SELECT operation_id AS "operationId" FROM transfers
      WHERE run_id = ${runId} AND chain_id = ${chainIdOf(accountId)} AND attempt = ${attempt} ORDER BY position`)

  const insert = Effect.fnUntraced(function* (
    { accountId, at, attempt, runId, txHash }: OpenedTransfers,
    transfer: OutgoingTransfer,
    position: number
  ) {
    const operationId = yield* Effect.provideService(makeOperationId, SecureRandom.SecureRandom, random)
    yield* sql`
      WITH inserted AS (
        INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
          last_sequence)
        SELECT ${operationId}, tenant_id, portfolio_id, 'bridge', trigger, 'accepted', ${timestamp(at)},
          ${timestamp(at)}, 1
        FROM operations WHERE operation_id = ${runId}
        RETURNING operation_id, submitted_at, trigger
      ) ${firstEvents(sql)}`
    yield* sql`
      INSERT INTO transfers (operation_id, portfolio_id, run_id, chain_id, attempt, position, account_id,
        destination_id, sell, buy,
        amount_raw, min_raw, expected_raw, bridge_address, tool, tx_hash, state, opened_at)
      SELECT ${operationId}, portfolio_id, ${runId}, ${chainIdOf(accountId)}, ${attempt}, ${position}, ${accountId},
        ${receiverOf(accountId, transfer)}, ${transfer.sell}, ${transfer.buy},
        ${transfer.amountRaw.toString()}::numeric,
        ${transfer.minRaw.toString()}::numeric, ${transfer.expectedRaw.toString()}::numeric, ${transfer.bridgeAddress},
        ${transfer.tool}, ${txHash}, 'open', ${timestamp(at)}
      FROM operations WHERE operation_id = ${runId}`
    return operationId
  })

  const recordIntent = Effect.fn("TransferLedger.recordIntent")(function* (intent: TransferIntent) {
    const { accountId, actionHash, at, attempt, fromBlock, runId, transfers } = intent
    yield* sql`
      INSERT INTO transfer_intents (run_id, chain_id, attempt, portfolio_id, account_id, action_hash, found_from,
        transfers, announced_at)
      SELECT ${runId}, ${chainIdOf(accountId)}, ${attempt}, portfolio_id, ${accountId}, ${actionHash},
        ${fromBlock.toString()}::numeric, ${storableJson(encodeTransfers(transfers))}::jsonb, ${timestamp(at)}
      FROM operations WHERE operation_id = ${runId}
      ON CONFLICT DO NOTHING`
  }, Effect.orDie)

  const cancelIntent = Effect.fn("TransferLedger.cancelIntent")(function* (
    runId: OperationId,
    chainId: ChainId,
    attempt: number
  ) {
    yield* sql`DELETE FROM transfer_intents WHERE run_id = ${runId} AND chain_id = ${chainId} AND attempt = ${attempt}`
  }, Effect.orDie)

  const intentsOf = Effect.fn("TransferLedger.intentsOf")((portfolioId: PortfolioId) =>
    allIntents(sql`
      ${sql.literal(selectIntents)} WHERE d.portfolio_id = ${portfolioId} ORDER BY d.run_id, d.chain_id, d.attempt`)
  )

  const abandonedIntents = Effect.fn("TransferLedger.abandonedIntents")(
    (endedBefore: DateTime.Utc, after: TransferIntent | null, limit: number) =>
      allIntents(sql`
        ${sql.literal(selectIntents)} JOIN operations o ON o.operation_id = d.run_id
        WHERE o.finished_at < ${timestamp(endedBefore)} AND (d.run_id, d.chain_id, d.attempt) >
          (${after?.runId ?? ""}, ${after === null ? 0 : chainIdOf(after.accountId)}::bigint,
            ${after?.attempt ?? 0}::int)
        ORDER BY d.run_id, d.chain_id, d.attempt LIMIT ${limit}`)
  )

  const open = Effect.fn("TransferLedger.open")(
    function* (batch: OpenedTransfers) {
      // The portfolio first, as in all statements that lock more; and its readers see immediately that something left.
      yield* sql`
        UPDATE portfolios SET updated_at = ${timestamp(batch.at)}
        WHERE portfolio_id = (SELECT portfolio_id FROM operations WHERE operation_id = ${batch.runId})`
      yield* cancelIntent(batch.runId, chainIdOf(batch.accountId), batch.attempt)
      const before = yield* opened(batch)
      if (before.length > 0) return before.map(({ operationId }) => operationId)
      return yield* Effect.forEach(batch.transfers, (transfer, position) => insert(batch, transfer, position))
    },
    sql.withTransaction,
    Effect.orDie
  )

  const find = Effect.fn("TransferLedger.find")((operationId: OperationId) =>
    firstTransfer(sql`${sql.literal(selectTransfers)} WHERE operation_id = ${operationId}`)
  )

  const endOf = Effect.fn("TransferLedger.endOf")((operationId: OperationId) =>
    Effect.map(
      firstEnd(sql`SELECT ending FROM transfers WHERE operation_id = ${operationId} AND state <> 'open'`),
      Option.map(({ ending }) => ending)
    )
  )

  // Every run reads them, and hardly any portfolio has one.
  const openOf = yield* batched(
    (portfolioId) => portfolioId,
    (portfolioIds: ReadonlyArray<PortfolioId>) =>
      Effect.map(
        allTransfers(sql`
          ${sql.literal(selectTransfers)} WHERE portfolio_id = ANY(${portfolioIds}::text[]) AND state = 'open'
          ORDER BY operation_id`),
        (rows) => (portfolioId: PortfolioId) => rows.filter((row) => row.portfolioId === portfolioId)
      )
  )

  const allOpen = Effect.fn("TransferLedger.allOpen")((after: OperationId | null, limit: number) =>
    allTransfers(sql`
      ${sql.literal(selectTransfers)} WHERE state = 'open' AND operation_id > ${after ?? ""}
      ORDER BY operation_id LIMIT ${limit}`)
  )

  /** The entries that a transaction closed beside the one in question. */
  const closedBy = (portfolioId: PortfolioId, operationId: OperationId, txHash: string) => sql`
    FROM transfers c
    WHERE c.portfolio_id = ${portfolioId} AND c.state <> 'open' AND c.operation_id <> ${operationId}
      AND c.ending -> 'received' ->> 'txHash' = ${txHash}`

  const claims = Effect.fn("TransferLedger.claims")(function* (transfer: Transfer, txHash: string) {
    const { operationId, portfolioId } = transfer
    const open = yield* openOf(portfolioId)
    const received = yield* allReceived(sql`
      SELECT c.ending -> 'received' ->> 'assetId' AS "assetId", c.ending -> 'received' ->> 'raw' AS raw
      ${closedBy(portfolioId, operationId, txHash)}`)
    return { received, open: open.filter((other) => other.operationId !== operationId) } satisfies Claims
  })

  const close = Effect.fn("TransferLedger.close")(
    function* (operationId: OperationId, end: TransferEnd, { at, closedBefore }: TransferClosing) {
      yield* holdRun(sql)
      // In the order of all statements that lock: the portfolio, then what belongs to it.
      const found = yield* firstOpen(sql`
        SELECT p.portfolio_id AS "portfolioId", t.sell, t.buy, t.amount_raw AS "amountRaw",
          t.min_raw AS "minRaw", t.tool, t.tx_hash AS "txHash"
        FROM portfolios p JOIN transfers t ON t.portfolio_id = p.portfolio_id
        WHERE t.operation_id = ${operationId} FOR NO KEY UPDATE OF p`)
      if (found._tag === "None") return false
      const { portfolioId } = found.value
      const closed = yield* sql`
        UPDATE transfers SET state = ${end.state}, ending = ${storableJson(encodeEnd(end))}::jsonb,
          closed_at = ${timestamp(at)}
        WHERE operation_id = ${operationId} AND state = 'open'
          AND (SELECT count(*) ${closedBy(portfolioId, operationId, end.received?.txHash ?? "")}) = ${closedBefore}
          RETURNING 1`
      if (closed.length === 0) return false
      // An operation whose workflow has not begun passes through `running`, as its lifecycle has it.
      yield* changeState(sql, { operationId, to: "running", at, error: null })
      yield* changeState(sql, { operationId, at, ...operationEnd(end), ended: resultOfTransfer(found.value, end) })
      yield* sql`UPDATE portfolios SET updated_at = ${timestamp(at)} WHERE portfolio_id = ${portfolioId}`
      yield* sql`
        UPDATE schedules SET due_at = least(due_at, ${timestamp(at)}), updated_at = ${timestamp(at)}
        WHERE portfolio_id = ${portfolioId} AND status = 'active'`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  return TransferLedger.of({
    recordIntent,
    cancelIntent,
    intentsOf,
    abandonedIntents,
    open,
    find,
    endOf,
    openOf: openOf,
    allOpen,
    claims,
    close
  })
})

export const layer = Layer.effect(TransferLedger, make)
