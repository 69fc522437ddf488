/** Whether attempts may be signed: how far they and their operations have come meanwhile. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { Actions } from "#layers/sql/relay/signedBytes.ts"

export const makeStandings = (sql: SqlClient.SqlClient) => {
  /** How many of the attempts are signed, and how many are of operations that are to be cancelled. */
  const standing = Effect.fnUntraced(function* (actions: Actions) {
    const [row] = yield* sql<{ readonly signed: number; readonly cancelled: number }>`
      SELECT count(a.attempt)::int AS signed, count(o.cancel_requested_at)::int AS cancelled
      FROM unnest(${actions.map(({ attempt }) => attempt.operationId)}::text[],
        ${actions.map(({ attempt }) => attempt.attempt)}::int[]) AS w (operation_id, attempt)
      JOIN operations o ON o.operation_id = w.operation_id
      LEFT JOIN relayed_actions a ON a.operation_id = w.operation_id AND a.chain_id = ${actions[0].attempt.chainId}
        AND a.attempt = w.attempt`
    return row!
  })

  /** Whether the actions may be signed together now. One that is to be cancelled keeps no others from it. */
  const maySign = Effect.fnUntraced(function* (actions: Actions) {
    const { cancelled, signed } = yield* standing(actions)
    if (signed > 0) return false
    if (cancelled === 0) return true
    if (actions.length > 1) return false
    return yield* new CancelRequested({ operationId: actions[0].attempt.operationId })
  })

  /**
   * Explains a refusal: another process signed an attempt meanwhile, or the operation has ended or is to be cancelled.
   */
  const explain = Effect.fnUntraced(function* (actions: Actions) {
    if (!(yield* maySign(actions))) return false
    const operations = actions.map(({ attempt }) => attempt.operationId).join(", ")
    return yield* Effect.die(
      new Error(`Nothing is signed for ${operations}: an operation among them has ended or does not exist`)
    )
  })

  return { maySign, explain }
}
