/** Withdrawals and the claims on their nonces in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { isTerminal, OperationState, stateOfEnd } from "#domain/operation/Operation.ts"
import { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import {
  type NewWithdrawal,
  type NonceClaim,
  type NonceClaimRequest,
  type WithdrawalEnd,
  WithdrawalStore
} from "#domain/withdrawal/WithdrawalStore.ts"
import { changeState, firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { decodeFirst, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"
import {
  sourceColumns,
  SourceRow,
  sourceTables,
  toSource,
  toWithdrawal,
  WithdrawalRow
} from "#layers/sql/withdrawal/withdrawalRows.ts"
import { holdRun } from "#layers/sql/run/RunFence.ts"

const ClaimRow = Schema.Struct({
  isSameBody: Schema.Boolean,
  operationId: Schema.NullOr(OperationId),
  submittedAt: Schema.NullOr(Timestamp)
})

const firstSource = decodeFirst(SourceRow)
const firstWithdrawal = decodeFirst(WithdrawalRow)
const firstClaim = decodeFirst(ClaimRow)
const firstState = decodeFirst(Schema.Struct({ state: OperationState }))
const encodeMessage = Schema.encodeSync(WithdrawalMessage)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(sourceColumns)
  const tables = sql.literal(sourceTables)

  const source = Effect.fn("WithdrawalStore.source")((tenantId: TenantId, portfolioId: PortfolioId) =>
    Effect.map(
      firstSource(sql`
        SELECT ${columns} FROM ${tables} WHERE p.portfolio_id = ${portfolioId} AND p.tenant_id = ${tenantId}`),
      Option.map(toSource)
    )
  )

  const claim = Effect.fn("WithdrawalStore.claim")(function* (request: NonceClaimRequest) {
    const { nonce, requestHash, tenantId } = request
    // A lease that has run out may be taken over by any body: nothing was accepted under it.
    const claimed = yield* sql`
      INSERT INTO withdrawal_claims AS c (tenant_id, nonce, request_hash, lease_until)
      VALUES (${tenantId}, ${nonce}, ${requestHash}, ${timestamp(request.leaseUntil)})
      ON CONFLICT (tenant_id, nonce) DO UPDATE
        SET request_hash = excluded.request_hash, lease_until = excluded.lease_until
        WHERE c.operation_id IS NULL AND c.lease_until <= ${timestamp(request.now)}
      RETURNING 1`
    if (claimed.length > 0) return { _tag: "Claimed" } satisfies NonceClaim
    const found = yield* firstClaim(sql`
      SELECT c.request_hash = ${requestHash} AS "isSameBody", c.operation_id AS "operationId",
        o.submitted_at AS "submittedAt"
      FROM withdrawal_claims c LEFT JOIN operations o ON o.operation_id = c.operation_id
      WHERE c.tenant_id = ${tenantId} AND c.nonce = ${nonce}`)
    // Released between the two statements: the client tries again.
    if (Option.isNone(found)) return { _tag: "InProgress" } satisfies NonceClaim
    const { isSameBody, operationId, submittedAt } = found.value
    if (!isSameBody) return { _tag: "Mismatch" } satisfies NonceClaim
    return (
      operationId === null || submittedAt === null
        ? { _tag: "InProgress" }
        : { _tag: "Replayed", accepted: { operationId, submittedAt } }
    ) satisfies NonceClaim
  }, Effect.orDie)

  // The end of the lease identifies its holder: a late call must not disturb a later one.
  const held = ({ leaseUntil, nonce, requestHash, tenantId }: NonceClaimRequest) => sql`
    tenant_id = ${tenantId} AND nonce = ${nonce} AND operation_id IS NULL AND request_hash = ${requestHash}
    AND lease_until = ${timestamp(leaseUntil)}`

  const release = Effect.fn("WithdrawalStore.release")(function* (request: NonceClaimRequest) {
    yield* sql`DELETE FROM withdrawal_claims WHERE ${held(request)}`
  }, Effect.orDie)

  const accept = Effect.fn("WithdrawalStore.accept")(
    function* (withdrawal: NewWithdrawal, request: NonceClaimRequest) {
      const { accountId, message, operationId, portfolioId, signature, tenantId } = withdrawal
      const submittedAt = timestamp(withdrawal.submittedAt)
      // Locked first, so that no other call takes the claim over before this transaction ends.
      const mine = yield* sql`SELECT 1 FROM withdrawal_claims WHERE ${held(request)} FOR UPDATE`
      if (mine.length === 0) return false
      yield* sql`
        WITH inserted AS (
          INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
            last_sequence)
          VALUES (${operationId}, ${tenantId}, ${portfolioId}, 'withdraw', 'manual', 'accepted', ${submittedAt},
            ${submittedAt}, 1)
          RETURNING operation_id, submitted_at, trigger
        ) ${firstEvents(sql)}`
      yield* sql`
        INSERT INTO withdrawals (operation_id, tenant_id, portfolio_id, account_id, nonce, message, signature,
          accepted_at_block, created_at)
        VALUES (${operationId}, ${tenantId}, ${portfolioId}, ${accountId}, ${message.nonce},
          ${storableJson(encodeMessage(message))}::jsonb, ${signature},
          ${withdrawal.acceptedAtBlock.toString()}::numeric, ${submittedAt})`
      yield* sql`UPDATE withdrawal_claims SET operation_id = ${operationId} WHERE ${held(request)}`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  const find = Effect.fn("WithdrawalStore.find")((operationId: OperationId) =>
    Effect.map(
      firstWithdrawal(sql`
        SELECT ${columns}, w.account_id AS "accountId", w.message, w.signature,
          w.accepted_at_block AS "acceptedAtBlock"
        FROM withdrawals w JOIN (${tables}) ON p.portfolio_id = w.portfolio_id WHERE w.operation_id = ${operationId}`),
      Option.map(toWithdrawal)
    )
  )

  const finish = Effect.fn("WithdrawalStore.finish")(
    function* ({ at, ended, error, isCancelled, operationId, outcome }: WithdrawalEnd) {
      yield* holdRun(sql)
      const to = stateOfEnd(error, isCancelled)
      // The portfolio first: every statement that locks both rows does so in this order.
      yield* sql`
        SELECT 1 FROM portfolios p JOIN operations o ON o.portfolio_id = p.portfolio_id
        WHERE o.operation_id = ${operationId} FOR NO KEY UPDATE OF p`
      const [changed] = yield* changeState(sql, { operationId, to, at, error, ended })
      if (changed === undefined) return yield* requireFinished(operationId, to)
      const stored = outcome === null ? null : storableJson(outcome)
      yield* sql`UPDATE withdrawals SET outcome = ${stored}::jsonb WHERE operation_id = ${operationId}`
      yield* sql`
        UPDATE portfolios SET updated_at = greatest(updated_at + interval '1 millisecond', ${timestamp(at)})
        WHERE portfolio_id = ${changed.portfolio_id}`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const requireFinished = Effect.fnUntraced(function* (operationId: OperationId, to: OperationState) {
    const found = yield* firstState(sql`SELECT state FROM operations WHERE operation_id = ${operationId}`)
    if (Option.isNone(found) || !isTerminal(found.value.state)) {
      return yield* Effect.die(new Error(`Operation ${operationId} cannot become ${to} in the state that it is in`))
    }
  })

  return WithdrawalStore.of({ source, claim, release, accept, find, finish })
})

export const layer = Layer.effect(WithdrawalStore, make)
