/**
 * Runs a simulation turn by turn: a task of a process, a statement of the database, a fiber that wakes, or, when nobody
 * has anything to do, a step of the time. Starts processes, and kills them.
 */
import type { ServiceSettings } from "#src/config/settings.ts"
import { testSettings } from "#test/support/settings.ts"
import { Instance } from "#test/simulation/harness/Instance.ts"
import { Locks } from "#test/simulation/harness/Locks.ts"
import { type LogLine, Process } from "#test/simulation/harness/Process.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import { type Session, shortOf, type Statement } from "#test/simulation/harness/Session.ts"
import type { Harness } from "#test/simulation/harness/Harness.ts"
import type { Trace } from "#test/simulation/harness/Trace.ts"
import type { FaultInjector } from "#test/simulation/harness/FaultInjector.ts"
import type { Invariants } from "#test/simulation/invariants/Invariants.ts"
import { InvariantBroken } from "#test/simulation/invariants/InvariantBroken.ts"
import type { World } from "#test/simulation/world/World.ts"

interface Parts {
  readonly random: Random
  readonly harness: Harness
  readonly trace: Trace
  readonly world: World
  readonly session: Session
  readonly faults: FaultInjector
  readonly invariants: Invariants
}

/** Statements of the engine's own upkeep, which no invariant reads. */
const upkeep = /workflow_|^\s*(?:BEGIN|SELECT|WITH RECURSIVE)/iu

/** More turns than any simulation needs: one that does not end has a fault. */
const maxTurns = 5_000_000

/** Lines of the log that nothing outside of the service explains. */
const neverLogged = /failed by a fault of the service|is a \w+, which no engine carries out/u

/** No poll for work more often than this while nothing is under way. */
const probeEveryMs = 1_000

export class Driver {
  readonly #parts: Parts
  readonly #processes: number
  readonly #locks = new Locks()
  readonly #settings: Pick<ServiceSettings, "scheduler" | "engine">
  #instances: Array<Instance> = []
  #started = 0
  #probedAt = 0
  #broken: InvariantBroken | undefined
  turns = 0

  constructor(parts: Parts) {
    this.#parts = parts
    const { random } = parts
    this.#processes = random.pick([1, 1, 2])
    this.#settings = {
      scheduler: { intervalMs: random.pick([1_000, 5_000, 15_000]), batch: random.pick([1, 200]) },
      engine: { ...testSettings.engine, maxRunsInFlight: random.pick([1, 4, 64]) }
    }
  }

  /** One of the processes that have started and run. */
  get ready(): Instance | undefined {
    const ready = this.#instances.filter(({ isReady }) => isReady)
    return ready.length === 0 ? undefined : this.#parts.random.pick(ready)
  }

  start(): void {
    for (let n = 0; n < this.#processes; n++) this.#startOne()
  }

  async stop(): Promise<void> {
    for (const { process } of this.#instances) await this.#end(process)
  }

  /**
   * Takes turns until the condition holds; at most for a time, and fails when that is over, unless nothing was waited
   * for.
   */
  async until(isReached: () => boolean, withinMs: number): Promise<void> {
    const { harness } = this.#parts
    const limit = harness.now + withinMs
    while (!isReached() && harness.now < limit) {
      this.turns += 1
      if (this.turns > maxTurns) throw new Error("The simulation does not end")
      await this.#turn(limit)
    }
  }

  async #turn(limit: number): Promise<void> {
    const { invariants, random, session, harness, faults } = this.#parts
    const busy = harness.processes.filter((process) => process.isRunning && process.hasTasks)
    if (busy.length > 0) {
      const process = random.pick(busy)
      process.runTask()
      invariants.checkSent()
      if (this.#broken !== undefined) throw this.#broken
      if (random.chance(faults.crashAtTurn)) await this.#kill(process)
      return
    }
    if (random.chance(0.3) && this.#wakeOne()) return
    const statement = session.take()
    if (statement !== undefined) return this.#run(statement)
    if (this.#wakeOne()) return
    await this.#passTime(limit)
  }

  async #run(statement: Statement): Promise<void> {
    const { invariants, random, session, trace, faults } = this.#parts
    const isUpkeep = upkeep.test(statement.sql)
    const { process } = statement.lease
    if (!isUpkeep && random.chance(faults.crashAtWrite)) {
      trace.note("fault: a process dies before a write", shortOf(statement.sql))
      return this.#kill(process)
    }
    const { committed } = await session.run(statement)
    if (!isUpkeep && random.chance(faults.crashAtWrite)) {
      trace.note("fault: a process dies after a write", shortOf(statement.sql))
      await this.#kill(process)
    }
    if (committed && !isUpkeep && !session.isHeld) await invariants.check()
  }

  #wakeOne(): boolean {
    const { harness } = this.#parts
    return harness.processes.some((process) => process.isRunning && process.wakeOne())
  }

  async #passTime(limit: number): Promise<void> {
    const { random, session, harness, trace, faults } = this.#parts
    // What was promised is answered first.
    await new Promise((resolve) => setImmediate(resolve))
    if (harness.processes.some((process) => process.isRunning && process.hasTasks) || session.isAsked) return
    const next = Math.min(harness.nextWakeAt ?? Infinity, harness.nextEventAt ?? Infinity)
    if (next === Infinity) throw new Error("Nothing will ever happen again")
    for (const process of harness.processes) {
      if (process.isRunning && random.chance(faults.freeze) && !session.isHeldBy(process)) {
        process.frozenUntil = harness.now + random.between(1_000, 40_000)
        trace.note("fault: a process stands still", process.name)
        harness.at(process.frozenUntil, () => {})
      }
    }
    const idleUntil = await this.#idleUntil()
    const slack = random.weighted([
      [0.25, 0],
      [0.25, random.between(1, 500)],
      [0.3, random.between(500, 3_000)],
      [0.2, random.between(3_000, 12_000)]
    ])
    const target = idleUntil > harness.now ? Math.min(idleUntil, harness.nextEventAt ?? Infinity) : next + slack
    harness.moveTo(Math.min(Math.max(target, next), Math.max(limit, next)))
  }

  /** Reads until when nothing is due in the database while nothing is under way; the present when something is. */
  async #idleUntil(): Promise<number> {
    const { invariants, session, harness } = this.#parts
    const isAsked = this.#instances.some(({ unanswered }) => unanswered > 0)
    if (isAsked || harness.now - this.#probedAt < probeEveryMs || session.isHeld) return 0
    this.#probedAt = harness.now
    return invariants.idleUntil()
  }

  #startOne(): void {
    const { random, session, harness, trace, world } = this.#parts
    this.#started += 1
    const name = `process ${this.#started}`
    trace.note("process: starts", name)
    const process = new Process(
      name,
      () => harness.now,
      (line) => this.#log(name, line)
    )
    harness.processes.push(process)
    const options = {
      world,
      session,
      process,
      random: random.fork(name),
      isAlone: this.#processes === 1,
      locks: this.#locks,
      settings: this.#settings
    }
    const instance = new Instance(options, (why) => {
      trace.note("process: could not start", why.slice(0, 200))
      harness.after(0, () => this.#replace(process))
    })
    this.#instances.push(instance)
  }

  async #kill(process: Process): Promise<void> {
    if (!process.isAlive) return
    this.#parts.trace.note("fault: a process is killed", process.name)
    await this.#end(process)
    this.#replace(process)
  }

  /** Another one starts in its place after a while. */
  #replace(process: Process): void {
    process.kill()
    this.#forget(process)
    const { random, harness } = this.#parts
    harness.after(random.between(200, random.chance(0.2) ? 600_000 : 20_000), () => this.#startOne())
  }

  async #end(process: Process): Promise<void> {
    process.kill()
    await this.#parts.session.drop(process)
    this.#forget(process)
  }

  #forget(process: Process): void {
    const { harness } = this.#parts
    this.#instances = this.#instances.filter((instance) => instance.process !== process)
    const index = harness.processes.indexOf(process)
    if (index >= 0) harness.processes.splice(index, 1)
  }

  #log(name: string, { level, text }: LogLine): void {
    this.#parts.trace.note(`log: ${level}`, `${name}: ${text.split("\n")[0]!.slice(0, 200)}`)
    // Thrown here it would be a fault of the fiber that logs.
    if (neverLogged.test(text)) this.#broken ??= new InvariantBroken("the service has no fault of its own", text)
  }
}
