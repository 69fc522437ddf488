/**
 * The session of the simulated database: statements of all processes, one at a time, in an order that the seed draws
 * among those that wait. Here the database fails: statements are refused or wait for a lock, connections are lost
 * before and after a commit.
 *
 * There is one session behind all connections, so a transaction keeps the others waiting until it ends.
 */
import { Effect, Exit } from "effect"
import type { SqlConnection } from "effect/sql"
import { ConnectionError, SerializationError, SqlError, UnknownError } from "effect/sql/SqlError"
import type { Process } from "#test/simulation/harness/Process.ts"
import type { Harness } from "#test/simulation/harness/Harness.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { Trace } from "#test/simulation/harness/Trace.ts"

type Answer = Exit.Exit<any, SqlError>
export type Method = "execute" | "executeRaw" | "executeValues" | "executeValuesUnprepared" | "executeUnprepared"

/** A process's connection: one statement, or the statements of one transaction. */
export interface Lease {
  readonly process: Process
  state: "open" | "aborted" | "broken"
}

export interface Statement {
  readonly lease: Lease
  readonly method: Method
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
  readonly answer: (answer: Answer) => void
}

/** How likely each fault of a statement is. */
export interface DatabaseFaults {
  refused: number
  lostBefore: number
  lostAfter: number
  /** It waits for a lock of somebody else, up to four seconds. */
  lockWaits: number
}

/** What running a statement led to. */
export interface Ran {
  readonly statement: Statement
  /** Something that others can see was written and committed. */
  readonly committed: boolean
}

const begins = /^\s*BEGIN/iu
const ends = /^\s*(?:COMMIT|ROLLBACK)\s*$/iu
const rollsBackTo = /^\s*ROLLBACK TO/iu
const commits = /^\s*COMMIT/iu
const reads = /^\s*SELECT/iu

const refusal = (reason: SqlError["reason"]): Answer => Exit.fail(new SqlError({ reason }))
const lost = () => refusal(new ConnectionError({ cause: new Error("simulated"), message: "the connection was lost" }))
const conflict = () =>
  refusal(new SerializationError({ cause: new Error("simulated"), message: "could not serialize access" }))
const aborted = () =>
  refusal(new UnknownError({ cause: new Error("simulated"), message: "current transaction is aborted" }))

export class Session {
  readonly #connection: SqlConnection.Connection
  readonly #random: Random
  readonly #trace: Trace
  readonly #harness: Harness
  readonly #waiting: Array<Statement> = []
  /** Times until which a connection waits for a lock. */
  readonly #locked = new Map<Lease, number>()
  #holder: Lease | undefined
  #wrote = false
  readonly faults: DatabaseFaults = { refused: 0, lostBefore: 0, lostAfter: 0, lockWaits: 0 }
  statements = 0

  constructor(
    connection: SqlConnection.Connection,
    { random, harness, trace }: { readonly harness: Harness; readonly random: Random; readonly trace: Trace }
  ) {
    this.#connection = connection
    this.#harness = harness
    this.#random = random
    this.#trace = trace
  }

  ask(statement: Statement): void {
    this.#waiting.push(statement)
  }

  /** Whether a statement waits that may run now. */
  get isAsked(): boolean {
    return this.#ready().length > 0
  }

  /** Whether a transaction is open. */
  get isHeld(): boolean {
    return this.#holder !== undefined
  }

  /** Whether a transaction of the process is open. */
  isHeldBy(process: Process): boolean {
    return this.#holder?.process === process
  }

  /** Ends what a process that was killed left open. */
  async drop(process: Process): Promise<void> {
    const left = this.#waiting.filter(({ lease }) => lease.process !== process)
    this.#waiting.splice(0, this.#waiting.length, ...left)
    if (this.isHeldBy(process)) await this.#breakOff(this.#holder!)
  }

  /** The next statement to run, taken out of those that wait; undefined when none may run. */
  take(): Statement | undefined {
    const ready = this.#ready()
    if (ready.length === 0) return undefined
    // Of one process and connection in the order in which they were asked.
    const chosen = this.#random.pick(ready)
    const first = ready.find(({ lease }) => lease === chosen.lease)!
    if (this.#mustWait(first)) return undefined
    this.#waiting.splice(this.#waiting.indexOf(first), 1)
    return first
  }

  /** Whether the statement waits for a lock from now on; one that has waited does not again. */
  #mustWait({ lease, sql }: Statement): boolean {
    if (this.#locked.delete(lease) || ends.test(sql) || !this.#random.chance(this.faults.lockWaits)) return false
    const until = this.#harness.now + this.#random.between(50, 4_000)
    this.#trace.note("database: waits for a lock", shortOf(sql))
    this.#locked.set(lease, until)
    this.#harness.at(until, () => {})
    return true
  }

  #ready(): ReadonlyArray<Statement> {
    return this.#waiting.filter(
      ({ lease }) =>
        lease.process.isRunning &&
        (this.#locked.get(lease) ?? 0) <= this.#harness.now &&
        (this.#holder === undefined || this.#holder === lease || lease.state !== "open")
    )
  }

  async run(statement: Statement): Promise<Ran> {
    const { lease, sql } = statement
    const before = this.#faultBefore(statement)
    if (before !== undefined) {
      if (lease.state === "broken") await this.#breakOff(lease)
      this.#answer(statement, before)
      return { statement, committed: false }
    }
    if (lease.state === "aborted" && commits.test(sql)) {
      await this.#breakOff(lease)
      this.#answer(statement, aborted())
      return { statement, committed: false }
    }
    this.statements += 1
    const answer = await this.#perform(statement)
    const committed = this.#follow(statement, answer)
    if (Exit.isSuccess(answer) && this.#random.chance(this.faults.lostAfter)) {
      this.#trace.note("database: connection lost after", shortOf(sql))
      if (this.#holder === lease) await this.#breakOff(lease)
      lease.state = "broken"
      this.#answer(statement, lost())
    } else this.#answer(statement, answer)
    return { statement, committed }
  }

  /** Why the statement is not run. */
  #faultBefore({ lease, sql }: Statement): Answer | undefined {
    if (lease.state === "broken") return lost()
    if (ends.test(sql)) return undefined
    if (lease.state === "aborted") {
      if (!rollsBackTo.test(sql)) return aborted()
      lease.state = "open"
      return undefined
    }
    if (this.#random.chance(this.faults.lostBefore)) {
      this.#trace.note("database: connection lost before", shortOf(sql))
      lease.state = "broken"
      return lost()
    }
    if (this.#random.chance(this.faults.refused)) {
      this.#trace.note("database: conflict", shortOf(sql))
      if (this.#holder === lease) lease.state = "aborted"
      return conflict()
    }
    return undefined
  }

  #perform({ method, params, sql }: Statement): Promise<Answer> {
    const connection = this.#connection as unknown as Record<
      Method,
      (sql: string, params: ReadonlyArray<unknown>, transform: undefined) => Effect.Effect<unknown, SqlError>
    >
    return Effect.runPromiseExit(connection[method](sql, params, undefined))
  }

  /** Keeps track of the open transaction; answers whether something was committed. */
  #follow({ lease, sql }: Statement, answer: Answer): boolean {
    const writes = !reads.test(sql)
    if (begins.test(sql) && Exit.isSuccess(answer)) {
      this.#holder = lease
      this.#wrote = false
      return false
    }
    if (this.#holder !== lease) return writes && Exit.isSuccess(answer)
    if (Exit.isFailure(answer)) lease.state = "aborted"
    if (!ends.test(sql)) {
      this.#wrote ||= writes
      return false
    }
    this.#holder = undefined
    return commits.test(sql) && this.#wrote
  }

  async #breakOff(lease: Lease): Promise<void> {
    if (this.#holder !== lease) return
    this.#holder = undefined
    await Effect.runPromise(this.#connection.executeUnprepared("ROLLBACK", [], undefined))
  }

  #answer({ answer, lease }: Statement, result: Answer): void {
    lease.process.answer(() => answer(result))
  }
}

/** A statement in a line of the trace. */
export const shortOf = (sql: string): string => sql.replaceAll(/\s+/gu, " ").trim().slice(0, 60)
