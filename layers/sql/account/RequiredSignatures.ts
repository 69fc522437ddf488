/** Chains that wait for a signature of their owner, in PostgreSQL. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { ChainId } from "#domain/values/Caip.ts"
import { type RequiredSignature, RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { OperationState } from "#domain/operation/Operation.ts"
import { changeState } from "#layers/sql/operation/operationEvents.ts"
import { decodeRows, SmallBigint, timestamp } from "#layers/sql/rows.ts"
import { holdRun } from "#layers/sql/run/RunFence.ts"

const allChains = decodeRows(Schema.Struct({ chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)) }))

/** Another run of the portfolio began first. */
const isTaken = (error: unknown): boolean => isSqlError(error) && error.reason._tag === "UniqueViolation"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A run that has ended waits for nothing any more: the next one takes its place.
  const require = Effect.fn("RequiredSignatures.require")(function* (signature: RequiredSignature) {
    const { at, cause, chainId, operationId, permissionId } = signature
    const rows = yield* sql`
      INSERT INTO required_signatures AS r (portfolio_id, chain_id, operation_id, permission_id, cause, required_at)
      SELECT portfolio_id, ${chainId}, operation_id, ${permissionId}, ${cause}, ${timestamp(at)}
      FROM operations WHERE operation_id = ${operationId}
      ON CONFLICT (portfolio_id, chain_id) DO UPDATE SET operation_id = excluded.operation_id,
        permission_id = excluded.permission_id, cause = excluded.cause, required_at = excluded.required_at
      WHERE r.operation_id = excluded.operation_id
        OR EXISTS (SELECT FROM operations o WHERE o.operation_id = r.operation_id AND o.finished_at IS NOT NULL)
      RETURNING 1`
    return rows.length > 0
  }, Effect.orDie)

  const awaitedBy = Effect.fn("RequiredSignatures.awaitedBy")((operationId: OperationId) =>
    Effect.map(
      allChains(sql`
        SELECT chain_id AS "chainId" FROM awaited_signatures WHERE operation_id = ${operationId} ORDER BY chain_id`),
      (rows) => rows.map(({ chainId }) => chainId)
    )
  )

  const clear = Effect.fn("RequiredSignatures.clear")(function* (portfolioId: PortfolioId, chainId: ChainId) {
    yield* sql`DELETE FROM required_signatures WHERE portfolio_id = ${portfolioId} AND chain_id = ${chainId}`
  }, Effect.orDie)

  const resume = Effect.fn("RequiredSignatures.resume")(
    function* (operationId: OperationId, at: DateTime.Utc) {
      yield* holdRun(sql)
      // One after the other with whoever asks for a run of the portfolio. A run of the schedule is not kept out: the
      // index of unfinished rebalances decides. Its insert must not wait for this row, or each would wait for the
      // other.
      const [locked] = yield* sql<{ readonly portfolioId: PortfolioId; readonly state: OperationState }>`
        SELECT p.portfolio_id AS "portfolioId", o.state FROM portfolios p
        JOIN operations o ON o.portfolio_id = p.portfolio_id
        WHERE o.operation_id = ${operationId} FOR NO KEY UPDATE OF p`
      if (locked?.state !== "awaiting_user") return locked?.state === "running"
      const busy = yield* sql`
        SELECT 1 FROM operations WHERE portfolio_id = ${locked.portfolioId} AND kind = 'rebalance'
          AND finished_at IS NULL AND state <> 'awaiting_user'`
      if (busy.length > 0) return false
      return (yield* changeState(sql, { operationId, to: "running", at, error: null })).length > 0
    },
    sql.withTransaction,
    Effect.catchIf(isTaken, () => Effect.succeed(false)),
    Effect.orDie
  )

  return RequiredSignatures.of({ require, awaitedBy, clear, resume })
})

export const layer = Layer.effect(RequiredSignatures, make)
