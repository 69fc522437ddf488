/**
 * The client of a PostgreSQL server: the driver's pool, and what of its sessions may not be used any more.
 *
 * A session is asked once whether it may write, before its first statement. After a failover an address leads to a
 * server that only reads for a while, and a session that was made then would go on refusing every write long after the
 * address leads elsewhere. When a session refuses a statement because it only reads, all that were made before leave
 * the pool, since they may be with the same server; outside of a transaction the statement, of which nothing was done,
 * is sent once more, on a new one. A session that was left in a transaction that nobody ends leaves the pool as well.
 * The driver itself drops those whose connection is lost.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Duration, Effect, Exit, Layer, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { sqlStateOf } from "#layers/sql/isDatabaseFault.ts"

/** Time to wait for a connection of the pool, when all of them are at work. */
const defaultWait = Duration.seconds(15)

/** `read_only_sql_transaction`: the session is with a server, or of a database, that only reads. */
const onlyReads = "25006"
/** `in_failed_sql_transaction`: of a statement outside of transactions, whoever had the session left it so. */
const leftInTransaction = "25P02"

const unusable = (message: string, operation: string) =>
  new SqlError({ reason: new ConnectionError({ cause: new Error(message), message, operation }) })

/** A session that was made before another one refused to write. */
const outdated = unusable("The session is not used any more", "acquire")
const mayPassOnAnother = (error: unknown) =>
  error === outdated || (error instanceof SqlError && sqlStateOf(error) === onlyReads)

type Session = PgConnection.PgConnection
type Rows = ReadonlyArray<Record<string, unknown>>
type Transform = (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/** A session as the client of the library has it; `onError` hears of each statement that failed. */
class ServerConnection implements SqlConnection.Connection {
  readonly #session: Session
  readonly #onError: (error: SqlError) => Effect.Effect<void>

  constructor(session: Session, onError: (error: SqlError) => Effect.Effect<void>) {
    this.#session = session
    this.#onError = onError
  }

  #query(sql: string, params: ReadonlyArray<unknown>, prepare = true) {
    return Effect.tapError(this.#session.query(sql, params, prepare), this.#onError)
  }

  #values(sql: string, params: ReadonlyArray<unknown>, prepare = true) {
    return Effect.tapError(this.#session.queryValues(sql, params, prepare), this.#onError)
  }

  #rows(answer: Effect.Effect<PgConnection.Result, SqlError>, transform: Transform) {
    return Effect.map(answer, ({ rows }): Rows => (transform === undefined ? rows : transform(rows)))
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transform: Transform) {
    return this.#rows(this.#query(sql, params), transform)
  }

  executeUnprepared(sql: string, params: ReadonlyArray<unknown>, transform: Transform) {
    return this.#rows(this.#query(sql, params, false), transform)
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.#query(sql, params)
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.#values(sql, params)
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.#values(sql, params, false)
  }

  executeStream() {
    return Stream.die(new Error("No statement of the service is streamed"))
  }
}

/** The server answers `ROLLBACK` to the commit of a transaction that has failed. */
const commit = (connection: SqlConnection.Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []) as Effect.Effect<PgConnection.Result, SqlError>, ({ command }) => {
    if (command !== "ROLLBACK") return Effect.void
    const message = "The transaction had failed, and its commit was a rollback"
    return Effect.fail(
      new SqlError({ reason: new UnknownError({ cause: new Error(message), message, operation: "commit" }) })
    )
  })

const make = Effect.fnUntraced(function* (config: PgClient.PgPoolConfig, longestWait: Duration.Duration) {
  const pool = yield* PgPool.make(config)
  const { maxConnections = 10 } = config
  /** How often a session refused to write. */
  let refusals = 0
  /** Those that may write, since so many refusals. */
  const checked = new WeakMap<Session, { readonly connection: ServerConnection; readonly since: number }>()
  const isOutdated = (session: Session) => (checked.get(session)?.since ?? refusals) !== refusals
  /** Statements and transactions that have a connection, or wait for one. */
  let asked = 0

  const drop = (session: Session, states: ReadonlyArray<string>) => (error: SqlError) => {
    const state = sqlStateOf(error)
    if (state === onlyReads) refusals += 1
    return states.includes(state) ? pool.invalidate(session) : Effect.void
  }

  const check = Effect.fnUntraced(function* (session: Session) {
    const since = refusals
    const [row] = yield* session.queryValues("SHOW transaction_read_only")
    if (row?.[0] !== "off") {
      yield* pool.invalidate(session)
      return yield* unusable("The database server only reads: it is a standby, or was set to read only", "connect")
    }
    const connection = new ServerConnection(session, drop(session, [onlyReads, leftInTransaction]))
    checked.set(session, { connection, since })
    return connection
  })
  const connectionOf = (session: Session) => {
    const known = checked.get(session)
    return known === undefined ? check(session) : Effect.succeed(known.connection)
  }

  const refused = () =>
    unusable(`No connection to the database was free for ${Duration.format(longestWait)}`, "acquire")
  const isFull = () => asked > maxConnections
  const get = Effect.suspend(() => (isFull() ? withinRealTime(longestWait, refused)(pool.get) : pool.get))

  /** A session that is not outdated; those that are leave the pool. */
  const current = Effect.gen(function* () {
    const own = yield* Effect.scope
    while (true) {
      const scope = yield* Scope.fork(own)
      const session = yield* Scope.provide(get, scope)
      if (!isOutdated(session)) return session
      yield* pool.invalidate(session)
      yield* Scope.close(scope, Exit.void)
    }
  })

  // A free connection is lent without a scope; only a full pool needs one, and a timer.
  const borrower: SqlConnection.Borrower = (f) =>
    Effect.suspend(() => {
      asked += 1
      const lend = (session: Session) => {
        const known = checked.get(session)
        if (known === undefined) return Effect.flatMap(check(session), f)
        return known.since === refusals ? f(known.connection) : Effect.fail(outdated)
      }
      const scoped = Effect.scoped(Effect.flatMap(current, lend))
      const lent = isFull() ? scoped : pool.use(lend)
      return Effect.ensuring(
        Effect.catchIf(lent, mayPassOnAnother, () => scoped),
        returned
      )
    })
  const returned = Effect.sync(() => void (asked -= 1))
  const leased = Effect.acquireRelease(
    Effect.sync(() => void (asked += 1)),
    () => returned
  )
  const acquirer = Effect.andThen(leased, Effect.flatMap(current, connectionOf))
  const transactionAcquirer = Effect.andThen(
    leased,
    Effect.flatMap(current, (session) =>
      Effect.andThen(
        connectionOf(session),
        Effect.map(session.pin, (pinned) => new ServerConnection(pinned, drop(session, [onlyReads])))
      )
    )
  )

  return yield* SqlClient.make({
    acquirer,
    borrower,
    transactionAcquirer,
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    spanAttributes: [["db.system.name", "postgresql"]],
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

/** Connections are made when they are needed; what cannot be reached fails the statement. */
export const layer = (config: PgClient.PgPoolConfig, longestWait = defaultWait) =>
  Layer.effect(SqlClient.SqlClient, make(config, longestWait)).pipe(Layer.provide(Reactivity.layer))
