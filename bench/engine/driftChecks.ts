/** Due portfolios a second that are on target, and so get no run, beside those that get one, in turns on one engine. */
import { Console, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { dollarsAlone, onTarget } from "#bench/engine/noChain.ts"
import { countOperations, engine, ourRuns } from "#bench/engine/ourRuns.ts"
import { spreadHeading, spreadLine } from "#bench/engine/spreadLine.ts"
import { benchDatabase } from "#bench/http/benchDatabase.ts"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"

const rounds = 5
const runsOfARound = 400
const checksOfARound = 4_000

/** Seconds until none of `count` due portfolios, all of them on target, is due any more. */
const checkDrift = (count: number) =>
  Effect.gen(function* () {
    yield* makeDue(count)
    const scheduler = yield* Scheduler
    const start = performance.now()
    let checked = 0
    while (checked < count) checked += yield* scheduler.tick
    return (performance.now() - start) / 1000
  })

export const driftChecks = Effect.gen(function* () {
  const database = yield* benchDatabase
  let isOnTarget = false
  const ours = yield* Layer.build(engine(database, (assetId) => (isOnTarget ? onTarget : dollarsAlone)(assetId)))
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.andThen(fill(100, checksOfARound), fillGrants(checksOfARound))
    yield* sql`UPDATE schedules SET checked_at = portfolio_created_at`
    const measure = Effect.fnUntraced(function* () {
      isOnTarget = false
      const runs = runsOfARound / (yield* ourRuns(runsOfARound))
      isOnTarget = true
      const before = yield* countOperations
      const checksASecond = checksOfARound / (yield* checkDrift(checksOfARound))
      if ((yield* countOperations) !== before) return yield* Effect.die(new Error("A portfolio on target got a run"))
      return { runs, checks: checksASecond }
    })
    yield* measure()
    const measured = yield* Effect.replicateEffect(measure(), rounds)
    const [rates, runs] = [measured.map((round) => round.checks), measured.map((round) => round.runs)]
    yield* Console.log(
      [
        "",
        `Due portfolios of one chain; ${rounds} interleaved rounds of ${checksOfARound} on target and ${runsOfARound} that get a run`,
        spreadHeading,
        spreadLine("on target: portfolios/s", spreadOf(rates)),
        spreadLine("with a run: portfolios/s", spreadOf(runs)),
        spreadLine("on target / with a run", spreadOfRatios(rates, runs), 2)
      ].join("\n")
    )
  }).pipe(Effect.provideContext(ours))
}).pipe(Effect.scoped)
