/** How long a list's two pages take in interleaved rounds, and how long the database takes by its own account. */
import { Effect, Schema } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { type List, limit } from "#bench/lists/lists.ts"

const warmUps = 50
export const rounds = 15
/** Reads of each page in a round; a round's value is their mean. */
const reads = 40

export interface MeasuredList {
  readonly name: string
  /** Milliseconds a read through the store, a value a round. */
  readonly first: ReadonlyArray<number>
  readonly deep: ReadonlyArray<number>
}

/** A page that is not full measures nothing. */
class PageNotFull extends Schema.TaggedError<PageNotFull>()("PageNotFull", { message: Schema.String }) {}

const millis = (read: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const start = performance.now()
    yield* read
    return performance.now() - start
  })

export const measureList = Effect.fnUntraced(function* (list: List) {
  for (const read of [list.first, list.deep]) {
    const { length } = yield* read
    if (length <= limit) return yield* new PageNotFull({ message: `${list.name}: a page has ${length} rows` })
    for (let time = 0; time < warmUps; time += 1) yield* read
  }
  const first: Array<number> = []
  const deep: Array<number> = []
  for (let round = 0; round < rounds; round += 1) {
    const sums = { first: 0, deep: 0 }
    for (let time = 0; time < reads; time += 1) {
      // One of each in turn, and which comes first changes too: what else the machine does falls on both.
      const order = (round + time) % 2 === 0 ? (["first", "deep"] as const) : (["deep", "first"] as const)
      for (const page of order) sums[page] += yield* millis(list[page])
    }
    first.push(sums.first / reads)
    deep.push(sums.deep / reads)
  }
  return { name: list.name, first, deep } satisfies MeasuredList
})

interface Explained {
  readonly "QUERY PLAN": ReadonlyArray<{ readonly "Planning Time": number; readonly "Execution Time": number }>
}

/** The one statement of a read, as the store sends it. */
const statementOf = Effect.fnUntraced(function* (read: Effect.Effect<unknown>) {
  const sent: Array<readonly [string, ReadonlyArray<unknown>]> = []
  yield* read.pipe(
    Effect.provideService(Statement.CurrentTransformer, (statement) =>
      Effect.sync(() => {
        sent.push(statement.compile())
        return statement
      })
    )
  )
  const [only, more] = sent
  if (only === undefined || more !== undefined) {
    return yield* Effect.die(new Error(`A read took ${sent.length} statements instead of one`))
  }
  return only
})

/** Milliseconds of the server for a read's statement (planning, which a prepared statement is spared, apart). */
export const serverMillis = Effect.fnUntraced(function* (read: Effect.Effect<unknown>) {
  const sql = yield* SqlClient.SqlClient
  const [text, parameters] = yield* statementOf(read)
  const execution: Array<number> = []
  const planning: Array<number> = []
  for (let round = 0; round < rounds; round += 1) {
    const [row] = yield* sql.unsafe<Explained>(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, parameters)
    const [plan] = row!["QUERY PLAN"]
    execution.push(plan!["Execution Time"])
    planning.push(plan!["Planning Time"])
  }
  return { execution, planning }
})
