/**
 * One statement for all concurrent calls, answered to each by its index. A call inside a transaction runs alone and
 * within it: it sees what the transaction wrote, and uses no second connection.
 */
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "#domain/effects/batched.ts"

interface Requested<A> {
  readonly item: A
  readonly key: string
}

/**
 * Returns a function that hands an item to `ask` together with those of other calls; the answers are in the order of
 * the items. Items of the same key, where `keyOf` is given, go one after the other.
 */
export const batchedStatement = Effect.fnUntraced(function* <A, B, E>(
  ask: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>,
  keyOf?: (item: A) => string
) {
  const sql = yield* SqlClient.SqlClient
  const together = yield* batched(
    ({ key }: Requested<A>) => key,
    (requested: ReadonlyArray<Requested<A>>) =>
      Effect.map(ask(requested.map(({ item }) => item)), (answers) => {
        const found = new Map(requested.map((one, place) => [one, answers[place]!]))
        return (one: Requested<A>) => found.get(one)!
      })
  )
  let last = 0
  return (item: A): Effect.Effect<B, E> =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (transaction) => {
      if (Option.isSome(transaction)) return Effect.map(ask([item]), ([answer]) => answer!)
      last += 1
      return together({ item, key: keyOf === undefined ? String(last) : keyOf(item) })
    })
})
