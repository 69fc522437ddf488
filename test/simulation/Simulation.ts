/**
 * One simulation: a seed decides how the world fares, what people do, when processes die, and in which order things
 * happen. First everything may go wrong; then faults end, and everything must come to rest.
 */
import { Effect } from "effect"
import { Actors } from "#test/simulation/actors/Actors.ts"
import { enroll, type SimulatedPortfolio } from "#test/simulation/actors/enroll.ts"
import { Invariants } from "#test/simulation/invariants/Invariants.ts"
import { checkRest } from "#test/simulation/invariants/rest.ts"
import { readRunsClosed } from "#test/simulation/invariants/Snapshot.ts"
import type { Database } from "#test/simulation/stage/Database.ts"
import { Driver } from "#test/simulation/stage/Driver.ts"
import { Random } from "#test/simulation/stage/Random.ts"
import { Session } from "#test/simulation/stage/Session.ts"
import { Stage } from "#test/simulation/stage/Stage.ts"
import { Trace } from "#test/simulation/stage/Trace.ts"
import { FaultInjector } from "#test/simulation/stage/FaultInjector.ts"
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
  /** Of faults, user actions and events on chains, by kind. */
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
  const stage = new Stage(beginning)
  const trace = new Trace(() => stage.now, print)
  const world = new World({ stage, trace, random }, sabotage)
  const session = new Session(database.connection, { stage, random: random.fork("session"), trace })
  const weather = new FaultInjector(world, session, random.fork("weather"))
  const invariants = new Invariants(database.connection, world)
  const director = new Driver({ random: random.fork("director"), stage, trace, world, session, weather, invariants })

  const outcomes = new Map<string, number>()
  const end = (failure: SimulationEnd["failure"]): SimulationEnd => ({
    seed,
    failure,
    virtualMs: stage.now - beginning,
    turns: director.turns,
    statements: session.statements,
    counts: trace.counts,
    outcomes,
    checked: invariants.checked,
    digest: trace.digest(),
    latest: trace.latest(40)
  })

  try {
    director.start()
    await director.until(() => director.ready !== undefined, minute)
    let portfolios: ReadonlyArray<SimulatedPortfolio> | undefined
    director.ready!.run(enroll(random.fork("enroll")), (exit) => {
      if (exit._tag === "Success") portfolios = exit.value
    })
    await director.until(() => portfolios !== undefined, minute)
    const actors = new Actors(world, random.fork("actors"), portfolios!)
    for (const portfolio of portfolios!) for (let n = random.between(1, 4); n > 0; n--) actors.deposit(portfolio)
    weather.turnBad(actors)
    const drawnHours = random.between(3, 10)
    const badUntil = stage.now + (badHours ?? drawnHours) * hour
    const goOn = () => {
      if (stage.now >= badUntil) return
      actors.act(director.ready)
      stage.after(random.between(1, 60) * minute, goOn)
    }
    stage.after(minute, goOn)
    await director.until(() => stage.now >= badUntil, Infinity)
    trace.note("the weather clears")
    weather.clear()
    await director.until(() => director.ready !== undefined, 10 * minute)
    actors.resumeAll(director.ready!)
    actors.signAllAnew(director.ready!)
    // What was left of the bad weather ends; then everybody's portfolio is looked at once more, as often again as ways
    // that failed in it are left out, and once again where the look before has found that its owner must sign.
    await director.until(() => false, 4 * hour)
    for (let looks = 2 + (await readRunsClosed(database.connection)); looks > 0; looks -= 1) {
      actors.signAllAnew(director.ready!)
      actors.triggerAll(director.ready!)
      await director.until(() => false, hour)
    }
    await checkRest({ database, director, invariants, portfolios: portfolios!, world })
    return end(null)
  } catch (error) {
    const invariant = error instanceof Error && "invariant" in error ? String(error.invariant) : "the simulator works"
    return end({ invariant, detail: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    await director.stop()
    for (const { kind, state } of invariants.ended)
      outcomes.set(`${kind} ${state}`, (outcomes.get(`${kind} ${state}`) ?? 0) + 1)
  }
}
