/** Revocations in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChainId } from "#domain/values/Caip.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { Revocation } from "#domain/account/Revocation.ts"
import { FlowId, OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { isTerminal, OperationState } from "#domain/operation/Operation.ts"
import {
  type AcceptedRevocation,
  type RevocationEnd,
  type RevocationFlow,
  RevocationStore,
  type StoredFlow
} from "#domain/revocation/RevocationStore.ts"
import { changeState, firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"
import { holdRun } from "#layers/sql/run/RunFence.ts"

const FlowRow = Schema.Struct({
  flowId: FlowId,
  tenantId: TenantId,
  portfolioId: PortfolioId,
  revocation: Revocation,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  signature: Schema.NullOr(Schema.String),
  operationId: Schema.NullOr(OperationId),
  submittedAt: Schema.NullOr(Timestamp)
})

const firstFlow = decodeFirst(FlowRow)
const firstSigned = decodeFirst(Schema.Struct({ revocation: Revocation, signature: Schema.String }))
const allRevoked = decodeRows(Schema.Struct({ chainId: ChainId, permissionId: PermissionId }))
const firstState = decodeFirst(Schema.Struct({ state: OperationState }))
const encodeDocument = Schema.encodeSync(Revocation)

const toFlow = ({ operationId, signature, submittedAt, ...flow }: typeof FlowRow.Type): StoredFlow => ({
  ...flow,
  accepted:
    operationId === null || signature === null || submittedAt === null ? null : { operationId, signature, submittedAt }
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const insert = Effect.fn("RevocationStore.insert")(function* (flow: RevocationFlow) {
    yield* sql`
      INSERT INTO revocations (flow_id, tenant_id, portfolio_id, document, created_at, expires_at)
      VALUES (${flow.flowId}, ${flow.tenantId}, ${flow.portfolioId},
        ${storableJson(encodeDocument(flow.revocation))}::jsonb, ${timestamp(flow.createdAt)},
        ${timestamp(flow.expiresAt)})
      ON CONFLICT (portfolio_id) WHERE operation_id IS NULL DO UPDATE SET flow_id = excluded.flow_id,
        document = excluded.document, created_at = excluded.created_at, expires_at = excluded.expires_at`
  }, Effect.orDie)

  const find = Effect.fn("RevocationStore.find")((tenantId: TenantId, flowId: FlowId) =>
    Effect.map(
      firstFlow(sql`
        SELECT r.flow_id AS "flowId", r.tenant_id AS "tenantId", r.portfolio_id AS "portfolioId",
          r.document AS revocation, r.created_at AS "createdAt", r.expires_at AS "expiresAt", r.signature,
          r.operation_id AS "operationId", o.submitted_at AS "submittedAt"
        FROM revocations r LEFT JOIN operations o ON o.operation_id = r.operation_id
        WHERE r.flow_id = ${flowId} AND r.tenant_id = ${tenantId}`),
      Option.map(toFlow)
    )
  )

  const revoked = Effect.fn("RevocationStore.revoked")((portfolioId: PortfolioId) =>
    allRevoked(sql`
      SELECT (chain ->> 'chainId')::int AS "chainId", chain ->> 'permissionId' AS "permissionId"
      FROM revocations r CROSS JOIN jsonb_array_elements(r.document -> 'chains') AS chain
      JOIN operations o ON o.operation_id = r.operation_id
      WHERE r.portfolio_id = ${portfolioId} AND o.state <> 'failed'`)
  )

  const accept = Effect.fn("RevocationStore.accept")(
    function* ({ flowId, portfolioId, tenantId }: RevocationFlow, signature: string, accepted: AcceptedRevocation) {
      const { operationId } = accepted
      const at = timestamp(accepted.submittedAt)
      // The portfolio first: every statement that locks both rows does so in this order.
      const portfolio = yield* sql`
        UPDATE portfolios SET revoked_at = ${at}, updated_at = greatest(updated_at + interval '1 millisecond', ${at})
        WHERE portfolio_id = ${portfolioId} AND tenant_id = ${tenantId} AND archived_at IS NULL
          AND EXISTS (SELECT FROM revocations WHERE flow_id = ${flowId} AND operation_id IS NULL) RETURNING 1`
      if (portfolio.length === 0) return false
      yield* sql`
        WITH inserted AS (
          INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
            last_sequence)
          VALUES (${operationId}, ${tenantId}, ${portfolioId}, 'revoke', 'manual', 'accepted', ${at}, ${at}, 1)
          RETURNING operation_id, submitted_at, trigger
        ) ${firstEvents(sql)}`
      const signed = yield* sql`
        UPDATE revocations SET signature = ${signature}, operation_id = ${operationId}
        WHERE flow_id = ${flowId} AND operation_id IS NULL RETURNING 1`
      if (signed.length === 0) return yield* Effect.fail("taken" as const)
      yield* sql`
        UPDATE schedules SET status = 'paused', checked_at = NULL, updated_at = ${at}
        WHERE portfolio_id = ${portfolioId} AND status = 'active'`
      return true
    },
    sql.withTransaction,
    // The refusal is a failure inside, so that the transaction rolls back.
    Effect.catch((failure) => (failure === "taken" ? Effect.succeed(false) : Effect.die(failure)))
  )

  const load = Effect.fn("RevocationStore.load")((operationId: OperationId) =>
    firstSigned(sql`
      SELECT document AS revocation, signature FROM revocations WHERE operation_id = ${operationId}`)
  )

  const requireFinished = Effect.fnUntraced(function* (operationId: OperationId, to: OperationState) {
    const found = yield* firstState(sql`SELECT state FROM operations WHERE operation_id = ${operationId}`)
    if (Option.isNone(found) || !isTerminal(found.value.state)) {
      return yield* Effect.die(new Error(`Operation ${operationId} cannot become ${to} in the state that it is in`))
    }
  })

  const finish = Effect.fn("RevocationStore.finish")(
    function* ({ at, ended, error, operationId }: RevocationEnd) {
      yield* holdRun(sql)
      const to = error === null ? "completed" : "failed"
      const [changed] = yield* changeState(sql, { operationId, to, at, error, ended })
      if (changed === undefined) yield* requireFinished(operationId, to)
    },
    sql.withTransaction,
    Effect.orDie
  )

  return RevocationStore.of({ insert, find, revoked, accept, load, finish })
})

export const layer = Layer.effect(RevocationStore, make)
