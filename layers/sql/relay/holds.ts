/** Transactions that wait since the market asks more than they may offer. */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OperationId } from "#domain/values/Ids.ts"
import type { Hold, RelayStore } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { timestamp } from "#layers/sql/rows.ts"

export const makeHolds = (
  sql: SqlClient.SqlClient
): Pick<RelayStore["Service"], "operationsIn" | "hold" | "release"> => {
  const operationsIn = Effect.fn("RelayStore.operationsIn")(function* ({ chainId, nonce, relayer }: SignedTransaction) {
    const rows = yield* sql<{ readonly operationId: OperationId }>`
      SELECT DISTINCT a.operation_id AS "operationId" FROM relayed_actions a
      JOIN operations o ON o.operation_id = a.operation_id AND o.finished_at IS NULL
      WHERE a.chain_id = ${chainId} AND a.relayer = ${relayer} AND a.nonce = ${nonce} ORDER BY a.operation_id`
    return rows.map(({ operationId }) => operationId)
  }, Effect.orDie)

  const hold = Effect.fn("RelayStore.hold")(function* (
    { chainId, nonce, relayer }: SignedTransaction,
    at: DateTime.Utc
  ) {
    const [row] = yield* sql<{ readonly since: Date; readonly isFollowed: boolean }>`
      UPDATE relayed_transactions t SET held_since = coalesce(t.held_since, ${timestamp(at)})
      WHERE t.chain_id = ${chainId} AND t.relayer = ${relayer} AND t.nonce = ${nonce}
      RETURNING t.held_since AS since, EXISTS (SELECT FROM relayed_transactions later
        WHERE later.chain_id = t.chain_id AND later.relayer = t.relayer AND later.nonce > t.nonce) AS "isFollowed"`
    const held: Hold = { since: DateTime.makeUnsafe(row!.since), isFollowed: row!.isFollowed }
    return held
  }, Effect.orDie)

  const release = Effect.fn("RelayStore.release")(function* ({ chainId, nonce, relayer }: SignedTransaction) {
    yield* sql`
      UPDATE relayed_transactions SET held_since = NULL
      WHERE chain_id = ${chainId} AND relayer = ${relayer} AND nonce = ${nonce}`
  }, Effect.orDie)

  return { operationsIn, hold, release }
}
