/**
 * Requests to cancel operations.
 *
 * A transaction that stores signed bytes of an operation holds `holdOpen` until its commit, and a request to cancel it
 * waits for that: so what is signed when the request is committed is all that is ever signed for the operation.
 */
import { type DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { OperationKind, type ReportedOperation } from "#domain/operation/Operation.ts"
import type { CancelAnswer, CancelRequest } from "#domain/operation/OperationStore.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"

/** Separates these locks from others of the same number. */
const lockSpace = 192

/** Closes an operation: until the transaction ends nothing is signed for it. */
export const closeOperation = (sql: SqlClient.SqlClient, operationId: OperationId) =>
  sql`SELECT pg_advisory_xact_lock(hashtextextended(${operationId}, ${lockSpace}))`

/** Condition on `operations`: what it does is not sent before it begins, and is not signed by the owner. */
export const cancellable = (sql: SqlClient.SqlClient) => sql`kind NOT IN ('bridge', 'revoke')`

/** An expression that holds operations open until the transaction ends; `ids` is an expression, too. */
export const holdOpen = (sql: SqlClient.SqlClient, ids: ReadonlyArray<OperationId>) => sql`
  (SELECT count(pg_advisory_xact_lock_shared(hashtextextended(o.id, ${lockSpace})))
    FROM unnest(${[...ids]}::text[]) AS o (id))`

const allLaunches = decodeRows(Schema.Struct({ operationId: OperationId, kind: OperationKind }))

type Find = (
  tenantId: TenantId,
  portfolioId: PortfolioId,
  operationId: OperationId
) => Effect.Effect<Option.Option<ReportedOperation>>

const tooLate = (reason: string): CancelAnswer => ({ _tag: "TooLate", reason })

export const makeCancelRequests = (sql: SqlClient.SqlClient, find: Find) => {
  const isUnderWay = (operationId: OperationId) =>
    Effect.map(
      sql`SELECT 1 FROM relayed_actions WHERE operation_id = ${operationId} AND status = 'signed' LIMIT 1`,
      (rows) => rows.length > 0
    )

  /** A rebalance has several parts, of which some may not be signed yet; of others the one thing that they do is. */
  const refusal = Effect.fnUntraced(function* ({ kind, operationId, state }: ReportedOperation) {
    if (kind === "bridge")
      return "What is on its way to another chain arrives or comes back by itself; nothing can be left out"
    if (kind === "revoke")
      return "The owner's signature is not taken back: a revocation ends when no chain honours the permission"
    if (kind !== "rebalance" && (yield* isUnderWay(operationId)))
      return `The operation is ${state} and was sent to its chain; wait for what becomes of it`
    return undefined
  })

  const requestCancel = Effect.fn("OperationStore.requestCancel")(
    function* ({ now, operationId, portfolioId, tenantId }: CancelRequest) {
      yield* closeOperation(sql, operationId)
      const found = yield* find(tenantId, portfolioId, operationId)
      if (Option.isNone(found)) return { _tag: "Unknown" } satisfies CancelAnswer
      const operation = found.value
      if (operation.state === "cancelled") return { _tag: "Requested", operation } satisfies CancelAnswer
      if (operation.finishedAt !== null) return tooLate(`The operation has ended: it is ${operation.state}`)
      const refused = yield* refusal(operation)
      if (refused !== undefined) return tooLate(refused)
      const requested = yield* sql`
        UPDATE operations SET cancel_requested_at = coalesce(cancel_requested_at, ${timestamp(now)})
        WHERE operation_id = ${operationId} AND finished_at IS NULL RETURNING 1`
      return requested.length > 0
        ? ({ _tag: "Requested", operation } satisfies CancelAnswer)
        : tooLate("The operation has ended a moment ago")
    },
    sql.withTransaction,
    Effect.orDie
  )

  const cancelAwaiting = Effect.fn("OperationStore.cancelAwaiting")(
    (tenantId: TenantId, portfolioId: PortfolioId, now: DateTime.Utc) =>
      allLaunches(sql`
        UPDATE operations SET cancel_requested_at = coalesce(cancel_requested_at, ${timestamp(now)})
        WHERE tenant_id = ${tenantId} AND portfolio_id = ${portfolioId} AND state = 'awaiting_user'
        RETURNING operation_id AS "operationId", kind`)
  )

  return { requestCancel, cancelAwaiting }
}
