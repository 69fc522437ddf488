/** Manual triggers: decided and written in one transaction. */
import { DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Operation } from "#domain/operation/Operation.ts"
import type { ManualRequest, Submission } from "#domain/operation/OperationStore.ts"
import { firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { firstOperation, selectOperations } from "#layers/sql/operation/operationRows.ts"
import { decodeFirst, Timestamp, timestamp } from "#layers/sql/rows.ts"

const firstSubmission = decodeFirst(Schema.Struct({ submittedAt: Timestamp }))

/**
 * Triggers of one portfolio take turns on its row. The lock is the one that foreign keys to the row do not wait for,
 * so the scheduler may claim the portfolio meanwhile; the index of unfinished runs then decides which was first.
 */
export const makeSubmitManual = (sql: SqlClient.SqlClient) => {
  /** The run at work; when none is, the latest that waits for its owner, which answers a trigger as well. */
  const unfinished = (request: ManualRequest) =>
    firstOperation(sql`
      ${sql.literal(selectOperations)}
      WHERE portfolio_id = ${request.portfolioId} AND kind = 'rebalance' AND finished_at IS NULL
      ORDER BY state = 'awaiting_user', submitted_at DESC LIMIT 1`)

  const latestManual = (request: ManualRequest) =>
    firstSubmission(sql`
      SELECT submitted_at AS "submittedAt" FROM operations
      WHERE portfolio_id = ${request.portfolioId} AND kind = 'rebalance' AND trigger = 'manual'
      ORDER BY submitted_at DESC LIMIT 1`)

  const insert = (operation: Operation) => {
    const submittedAt = timestamp(operation.submittedAt)
    return sql`
      WITH inserted AS (
        INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
          last_sequence)
        VALUES (${operation.operationId}, ${operation.tenantId}, ${operation.portfolioId}, ${operation.kind},
          ${operation.trigger}, ${operation.state}, ${submittedAt}, ${submittedAt}, 1)
        ON CONFLICT DO NOTHING RETURNING operation_id, submitted_at, trigger
      ) ${firstEvents(sql)} RETURNING 1`
  }

  return Effect.fn("OperationStore.submitManual")(
    function* (request: ManualRequest) {
      const [portfolio] = yield* sql<{ readonly isRevoked: boolean }>`
      SELECT revoked_at IS NOT NULL AS "isRevoked" FROM portfolios
      WHERE portfolio_id = ${request.portfolioId} AND tenant_id = ${request.tenantId} AND archived_at IS NULL
      FOR NO KEY UPDATE`
      if (portfolio === undefined) return { _tag: "NoPortfolio" } satisfies Submission
      if (portfolio.isRevoked) return { _tag: "Revoked" } satisfies Submission

      const running = yield* unfinished(request)
      if (Option.isSome(running)) return { _tag: "Running", operation: running.value } satisfies Submission

      const latest = yield* latestManual(request)
      if (Option.isSome(latest)) {
        const until = DateTime.add(latest.value.submittedAt, { milliseconds: request.cooldownMs })
        if (DateTime.isLessThan(request.now, until)) return { _tag: "CoolingDown", until } satisfies Submission
      }

      const operation: Operation = {
        operationId: request.operationId,
        tenantId: request.tenantId,
        portfolioId: request.portfolioId,
        kind: "rebalance",
        trigger: "manual",
        state: "accepted",
        submittedAt: request.now,
        updatedAt: request.now,
        finishedAt: null,
        error: null,
        outcome: null,
        reason: null
      }
      const inserted = yield* insert(operation)
      if (inserted.length > 0) return { _tag: "Submitted", operation } satisfies Submission
      const claimed = yield* unfinished(request)
      return { _tag: "Running", operation: Option.getOrThrow(claimed) } satisfies Submission
    },
    sql.withTransaction,
    Effect.orDie
  )
}
