/**
 * One simulation: a seed decides how the world fares, what people do, when processes die, and in which order things
 * happen. First everything may go wrong; then faults end, and everything must settle.
 */
import { Effect } from "effect"
import { Actors } from "#test/simulation/actors/Actors.ts"
import { enroll, type SimulatedPortfolio } from "#test/simulation/actors/enroll.ts"
import { Invariants } from "#test/simulation/invariants/Invariants.ts"
import { checkRest } from "#test/simulation/invariants/rest.ts"
import { readRunsClosed } from "#test/simulation/invariants/Snapshot.ts"
import type { Database } from "#test/simulation/harness/Database.ts"
import { Driver } from "#test/simulation/harness/Driver.ts"
import { Random } from "#test/simulation/harness/Random.ts"
import { Session } from "#test/simulation/harness/Session.ts"
import { Harness } from "#test/simulation/harness/Harness.ts"
import { Trace } from "#test/simulation/harness/Trace.ts"
import { FaultInjector } from "#test/simulation/harness/FaultInjector.ts"
import { type Sabotage, World } from "#test/simulation/world/World.ts"

/** 2026-01-01. */
const beginning = 1_767_225_600_000
const minute = 60_000
const hour = 60 * minute

export interface SimulationOptions {
  readonly sabotage?: Sabotage
  /** How many hours everything may go wrong; drawn when left out. */
  readonly badHours?: number
  /** Gets every line of the trace. */
  readonly print?: (line: string) => void
}

export interface SimulationEnd {
  readonly seed: number
  /** Why it failed; null when everything held. */
  readonly failure: { readonly invariant: string; readonly detail: string } | null
  readonly virtualMs: number
  readonly turns: number
  readonly statements: number
  /** Counts of faults, user actions and events on chains, by kind. */
  readonly counts: ReadonlyMap<string, number>
  /** Operations by kind and final state. */
  readonly outcomes: ReadonlyMap<string, number>
  readonly checked: ReadonlyMap<string, number>
  readonly digest: string
  readonly latest: ReadonlyArray<string>
}

export const simulate = async (
  database: Database,
  seed: number,
  { badHours, print, sabotage }: SimulationOptions = {}
): Promise<SimulationEnd> => {
  await Effect.runPromise(database.clear)
  const random = new Random(seed)
  const harness = new Harness(beginning)
  const trace = new Trace(() => harness.now, print)
  const world = new World({ harness, trace, random }, sabotage)
  const session = new Session(database.connection, { harness, random: random.fork("session"), trace })
  // The names of the random sources decide what is drawn: with other names a seed gives another simulation.
  const faults = new FaultInjector(world, session, random.fork("weather"))
  const invariants = new Invariants(database.connection, world)
  const driver = new Driver({ random: random.fork("director"), harness, trace, world, session, faults, invariants })

  const outcomes = new Map<string, number>()
  const end = (failure: SimulationEnd["failure"]): SimulationEnd => ({
    seed,
    failure,
    virtualMs: harness.now - beginning,
    turns: driver.turns,
    statements: session.statements,
    counts: trace.counts,
    outcomes,
    checked: invariants.checked,
    digest: trace.digest(),
    latest: trace.latest(40)
  })

  try {
    driver.start()
    await driver.until(() => driver.ready !== undefined, minute)
    let portfolios: ReadonlyArray<SimulatedPortfolio> | undefined
    driver.ready!.run(enroll(random.fork("enroll")), (exit) => {
      if (exit._tag === "Success") portfolios = exit.value
    })
    await driver.until(() => portfolios !== undefined, minute)
    const actors = new Actors(world, random.fork("actors"), portfolios!)
    for (const portfolio of portfolios!) for (let n = random.between(1, 4); n > 0; n--) actors.deposit(portfolio)
    faults.turnBad(actors)
    const drawnHours = random.between(3, 10)
    const badUntil = harness.now + (badHours ?? drawnHours) * hour
    const goOn = () => {
      if (harness.now >= badUntil) return
      actors.act(driver.ready)
      harness.after(random.between(1, 60) * minute, goOn)
    }
    harness.after(minute, goOn)
    await driver.until(() => harness.now >= badUntil, Infinity)
    trace.note("the faults end")
    faults.clear()
    await driver.until(() => driver.ready !== undefined, 10 * minute)
    actors.resumeKilledRuns(driver.ready!)
    actors.resumeAll(driver.ready!)
    actors.signAllAnew(driver.ready!)
    // What was left of the faults ends. Then every portfolio is rebalanced once more, again for each route between
    // chains that had failed and is left out, and again for each chain on which a run finds that its owner must sign:
    // it may find the second one only when value has arrived there.
    await driver.until(() => false, 4 * hour)
    const mayFindTwo = world.revoked.size > 1 ? 1 : 0
    for (let rounds = 2 + mayFindTwo + (await readRunsClosed(database.connection)); rounds > 0; rounds -= 1) {
      actors.signAllAnew(driver.ready!)
      actors.triggerAll(driver.ready!)
      await driver.until(() => false, hour)
    }
    await checkRest({ database, driver, invariants, portfolios: portfolios!, world })
    return end(null)
  } catch (error) {
    const invariant = error instanceof Error && "invariant" in error ? String(error.invariant) : "the simulator works"
    return end({ invariant, detail: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    await driver.stop()
    for (const { kind, state } of invariants.ended)
      outcomes.set(`${kind} ${state}`, (outcomes.get(`${kind} ${state}`) ?? 0) + 1)
  }
}
