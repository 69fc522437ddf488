/**
 * The service's engine, scheduler and stores as a process that kills itself where it is told to. Database and chains are
 * outside and stay. It is given one list of tasks, does them in order, tells what it passes, and ends.
 */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, Logger, References, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { Settings } from "#domain/Settings.ts"
import { BridgePace } from "#layers/engine/BridgePace.ts"
import { engineOn, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { RelayPace } from "#layers/engine/RelayPace.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { Boundaries, type Doom } from "#test/fault/crash/Boundaries.ts"
import type { ChainsConfig } from "#test/fault/crash/chainsWorld.ts"
import { CrashingRuntime } from "#test/fault/crash/CrashingEngine.ts"
import { crashingPorts } from "#test/fault/crash/crashingPorts.ts"
import { finalState } from "#test/fault/crash/finalState.ts"
import { hastyClock } from "#test/fault/crash/HastyClock.ts"
import { type MarketScenario, marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { marketWorld } from "#test/fault/crash/marketWorld.ts"
import { tell } from "#test/fault/crash/messages.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"
import { testSettings } from "#test/support/settings.ts"

/** Begins a scenario, or goes on with one until it has ended. Without a doom the process survives the task. */
export type Task =
  | { readonly _tag: "Begin"; readonly doom?: Doom }
  | { readonly _tag: "End"; readonly begun: Begun; readonly doom?: Doom }

export interface ServiceConfig {
  /** Socket of the database server. */
  readonly database: string
  readonly scenario: string
  /** Unix time in milliseconds at which the scenario's first process began. */
  readonly since: number
  /** File of the scripted chains; null when the chains are real. */
  readonly journal: string | null
  readonly chains: ChainsConfig | null
  readonly tasks: ReadonlyArray<Task>
}

const config = JSON.parse(process.env["CRASHING_SERVICE"] ?? "") as ServiceConfig

const { operations, world, begin } =
  config.journal === null
    ? (await import("#test/fault/crash/chainsWorld.ts")).chainsScenario(config.scenario, config.chains!)
    : scripted(config.scenario as MarketScenario, config.journal)

function scripted(name: MarketScenario, journal: string) {
  const { script, ...scenario } = marketScenarios[name]
  return { ...scenario, world: marketWorld(journal, script) }
}

/** One process has the database, as with the embedded one: whoever else is written down as a runner is dead. */
const Database = Layer.merge(
  PgClient.layer({
    username: "postgres",
    database: "postgres",
    stream: () => connect(config.database),
    maxConnections: 1,
    minConnections: 1
  }),
  Layer.succeed(DatabaseInfo, { isEmbedded: true })
)

const pace = { searchFor: Duration.millis(400), betweenSearches: Duration.millis(20) }
/** One look a round; the third pause is long enough to be a timer in the database. */
const bridgePace = {
  looks: 1,
  betweenLooks: Schedule.recurs(0),
  waitFor: (round: number) => (round === 1 ? Duration.minutes(2) : Duration.seconds(1))
}
const Pace =
  config.journal === null
    ? Layer.empty
    : Layer.merge(Layer.succeed(RelayPace, pace), Layer.succeed(BridgePace, bridgePace))

const Service = SchedulerLive.pipe(
  Layer.provideMerge(engineOn(CrashingRuntime)),
  Layer.provide(Pace),
  Layer.provideMerge(crashingPorts),
  Layer.provideMerge(world),
  Layer.provideMerge(SqlLive),
  Layer.provideMerge(Database),
  Layer.provideMerge(Boundaries.layer),
  Layer.provideMerge(
    Layer.succeed(Settings, { ...testSettings, scheduler: { ...testSettings.scheduler, intervalMs: 100 } })
  ),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(hastyClock(config.since)),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn")),
  Layer.provide(Logger.layer([Logger.consolePretty({ colors: false })]))
)

const hasEnded = Effect.fnUntraced(function* ({ portfolioId }: Begun) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly ended: number; readonly open: number }>`
    SELECT (SELECT count(*)::int FROM operations WHERE portfolio_id = ${portfolioId} AND finished_at IS NOT NULL) AS ended,
      (SELECT count(*)::int FROM workflow_executions WHERE finished_at IS NULL)
      + (SELECT count(*)::int FROM operations WHERE portfolio_id = ${portfolioId} AND finished_at IS NULL) AS open`
  return row!.ended >= operations && row!.open === 0
})

const ended = (begun: Begun) =>
  hasEnded(begun).pipe(
    Effect.filterOrFail((isEnded) => isEnded),
    Effect.retry(Schedule.spaced("25 millis")),
    Effect.timeout("60 seconds"),
    Effect.orDie
  )

const run = Effect.fnUntraced(function* (task: Task) {
  const boundaries = yield* Boundaries
  if (task._tag === "End") {
    boundaries.arm(task.doom)
    yield* ended(task.begun)
    boundaries.arm()
    return tell({ _tag: "Ended", state: yield* finalState(task.begun) })
  }
  const begun = yield* begin
  tell({ _tag: "Begun", begun })
  boundaries.arm(task.doom)
  yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch(begun))
  // Whoever is doomed dies on the way; whoever is not has passed everything by now.
  yield* ended(begun)
  yield* Effect.sleep("50 millis")
  boundaries.arm()
  tell({ _tag: "Ended", state: yield* finalState(begun) })
})

await Effect.runPromise(
  Effect.gen(function* () {
    const services = yield* Layer.build(Service)
    yield* Effect.forEach(config.tasks, run, { discard: true }).pipe(Effect.provideContext(services))
  }).pipe(Effect.scoped) as Effect.Effect<void>
).catch((cause: unknown) => {
  console.error(cause)
  process.exit(1)
})
process.exit(0)
