/** The queue of operations that act for an account, in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type QueuePosition, AccountQueue, type AccountTurn } from "#domain/operation/AccountQueue.ts"
import { batchedStatement } from "#layers/sql/batchedStatement.ts"
import { decodeRows, SmallBigint } from "#layers/sql/rows.ts"

const allAnswers = decodeRows(
  Schema.Struct({
    place: Schema.Int,
    state: Schema.Literals(["acquired", "joined", "waiting"]),
    ahead: SmallBigint
  })
)

const keyOf = ({ chainId, operationId }: AccountTurn) => `${operationId} ${chainId}`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /**
   * The row of an account decides: whoever inserts it has the account, and who comes while its operation has not ended
   * changes nothing. An operation that this statement does not see yet, since it was accepted meanwhile, has not ended.
   * Of those that wait, and of those that ask together, the first by urgency and submission may ask.
   */
  const acquireAll = (requests: ReadonlyArray<AccountTurn>) =>
    allAnswers(sql`
      WITH wanted AS (
        SELECT w.place, w.operation_id, w.chain_id, w.urgency, o.portfolio_id
        FROM unnest(${requests.map((_, index) => index)}::int[],
          ${requests.map(({ operationId }) => operationId)}::text[],
          ${requests.map(({ chainId }) => chainId)}::bigint[],
          ${requests.map(({ isUrgent }) => (isUrgent === true ? 0 : 1))}::smallint[])
          AS w (place, operation_id, chain_id, urgency)
        JOIN operations o ON o.operation_id = w.operation_id
      ), first AS (
        SELECT DISTINCT ON (w.portfolio_id, w.chain_id) w.portfolio_id, w.chain_id, w.operation_id
        FROM wanted w
        LEFT JOIN account_turns t ON (t.portfolio_id, t.chain_id, t.operation_id)
          = (w.portfolio_id, w.chain_id, w.operation_id)
        WHERE t.operation_id IS NOT NULL OR NOT EXISTS (
          SELECT FROM account_waits a JOIN operations o ON o.operation_id = a.operation_id
          WHERE (a.portfolio_id, a.chain_id) = (w.portfolio_id, w.chain_id) AND o.finished_at IS NULL
            AND (a.urgency, a.operation_id) < (w.urgency, w.operation_id)
        )
        ORDER BY w.portfolio_id, w.chain_id, t.operation_id IS NULL, w.urgency, w.operation_id
      ), acquired AS (
        INSERT INTO account_turns AS t (portfolio_id, chain_id, operation_id)
        SELECT portfolio_id, chain_id, operation_id FROM first
        ON CONFLICT (portfolio_id, chain_id) DO UPDATE SET operation_id = excluded.operation_id
        WHERE t.operation_id = excluded.operation_id OR EXISTS (
          SELECT FROM operations o WHERE o.operation_id = t.operation_id AND o.finished_at IS NOT NULL
        )
        RETURNING t.portfolio_id, t.chain_id, t.operation_id
      ), served AS (
        DELETE FROM account_waits a USING acquired t
        WHERE (a.portfolio_id, a.chain_id, a.operation_id) = (t.portfolio_id, t.chain_id, t.operation_id)
      ), joined AS (
        INSERT INTO account_waits (portfolio_id, chain_id, operation_id, urgency)
        SELECT w.portfolio_id, w.chain_id, w.operation_id, w.urgency FROM wanted w
        WHERE NOT EXISTS (
          SELECT FROM acquired t WHERE (t.chain_id, t.operation_id) = (w.chain_id, w.operation_id)
        )
        ON CONFLICT DO NOTHING
        RETURNING chain_id, operation_id
      )
      SELECT w.place, CASE
          WHEN t.operation_id IS NOT NULL THEN 'acquired'
          WHEN j.operation_id IS NOT NULL THEN 'joined'
          ELSE 'waiting' END AS state,
        CASE WHEN t.operation_id IS NOT NULL THEN 0 ELSE (
          SELECT count(*) FROM account_waits a JOIN operations o ON o.operation_id = a.operation_id
          WHERE (a.portfolio_id, a.chain_id) = (w.portfolio_id, w.chain_id) AND o.finished_at IS NULL
            AND (a.urgency, a.operation_id) < (w.urgency, w.operation_id)
        ) END AS ahead
      FROM wanted w
      LEFT JOIN acquired t ON (t.chain_id, t.operation_id) = (w.chain_id, w.operation_id)
      LEFT JOIN joined j ON (j.chain_id, j.operation_id) = (w.chain_id, w.operation_id)`).pipe(
      Effect.map((rows) => {
        const answers = new Map(rows.map(({ ahead, place, state }) => [place, { ahead, state }]))
        return requests.map((_, index): QueuePosition => answers.get(index) ?? { ahead: 0, state: "waiting" })
      })
    )

  const acquire = yield* batchedStatement(acquireAll, keyOf)

  const release = Effect.fn("AccountQueue.release")(function* ({
    chainId,
    operationId
  }: Pick<AccountTurn, "operationId" | "chainId">) {
    yield* sql`
      DELETE FROM account_turns t USING operations o
      WHERE o.operation_id = ${operationId} AND t.portfolio_id = o.portfolio_id AND t.chain_id = ${chainId}
        AND t.operation_id = o.operation_id`
  }, Effect.orDie)

  return AccountQueue.of({ acquire: Effect.fn("AccountQueue.acquire")(acquire), release })
})

export const layer = Layer.effect(AccountQueue, make)
