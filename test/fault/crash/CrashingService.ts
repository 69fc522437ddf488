/**
 * The service's engine, scheduler and stores, stopping at a given boundary. Database and chains are outside and outlive
 * it.
 */
import { PgClient } from "@effect/sql-pg"
import {
  Context,
  Duration,
  Effect,
  Fiber,
  Layer,
  Logger,
  Redacted,
  References,
  Schedule,
  type Scope,
  Clock
} from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import * as Decimal from "#domain/values/Decimal.ts"
import { CurrentBalances } from "#domain/chain/CurrentBalances.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { engineOn, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { Boundaries, type Doom } from "#test/fault/crash/Boundaries.ts"
import type { ChainScenario } from "#test/fault/crash/chains/chainScenarios.ts"
import type { ChainsConfig } from "#test/fault/crash/chains/ChainsConfig.ts"
import { CrashingRuntime } from "#test/fault/crash/CrashingEngine.ts"
import { crashingPorts } from "#test/fault/crash/crashingPorts.ts"
import { finalState } from "#test/fault/crash/finalState.ts"
import { type MarketScenario, marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { marketWorld } from "#test/fault/crash/marketWorld.ts"
import type { Message } from "#test/fault/crash/messages.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { testSettings, testSettingsWith } from "#test/support/settings.ts"
import { SignatureRequestTiming } from "#domain/rebalance/SignatureRequests.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { BridgeTiming } from "#domain/transfer/BridgeRun.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"
import { patience } from "#test/support/suite/patience.ts"

const clockRate = 10

/**
 * A clock whose time passes faster than it waits: an operation whose launch was lost counts as lost soon, and nothing
 * else takes less real time. All processes of a scenario read the same time from it.
 *
 * `since` is Unix time in milliseconds at which it agreed with the machine.
 */
const hastyClock = (since: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (machine): Clock.Clock => {
      const millis = () => since + (machine.currentTimeMillisUnsafe() - since) * clockRate
      const nanos = () => BigInt(Math.round(millis())) * 1_000_000n
      return {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: machine.monotonicTimeNanos,
        sleep: (duration) => machine.sleep(duration)
      }
    })
  )

/** Begins a scenario, or goes on with one until it has ended. Without a doom the process survives the task. */
export type Task =
  | { readonly _tag: "Begin"; readonly doom?: Doom }
  | { readonly _tag: "End"; readonly begun: Begun; readonly doom?: Doom }

export interface ServiceConfig {
  /** The path of the database's socket, or its URL. */
  readonly database: string
  readonly scenario: string
  /** Unix time in milliseconds at which the scenario's first process began. */
  readonly since: number
  /** File of the scripted chains; null when the chains are real. */
  readonly journal: string | null
  readonly chains: ChainsConfig | null
  readonly tasks: ReadonlyArray<Task>
}

const worldOf = async ({ chains, journal, scenario }: ServiceConfig) => {
  if (journal === null) {
    const { chainScenario } = await import("#test/fault/crash/chains/chainScenarios.ts")
    return chainScenario(scenario as ChainScenario, chains!)
  }
  const { script, ...steps } = marketScenarios[scenario as MarketScenario]
  return { ...steps, world: marketWorld(journal, script) }
}

/** One process has the database, as with the embedded one: whoever else is written down as a runner is dead. */
const databaseAt = (place: string) =>
  Layer.merge(
    PgClient.layer({
      ...(place.startsWith("postgres")
        ? { url: Redacted.make(place) }
        : { username: "postgres", database: "postgres", stream: () => connect(place) }),
      maxConnections: 1,
      minConnections: 1
    }),
    Layer.succeed(DatabaseInfo, { isEmbedded: true, apart: null, listening: null, patient: null })
  )

/**
 * Chains of a script answer at once. One poll of a bridge a round, and a timer in the database after each. A search
 * that ended before its first poll has an answer would be repeated for ever, so it lasts longer than a slow machine
 * needs for that.
 */
const Timing = Layer.mergeAll(
  Layer.succeed(RelayTiming, {
    searchFor: Duration.seconds(2),
    searchInterval: Duration.millis(20),
    holdFor: Duration.zero
  }),
  Layer.succeed(BridgeTiming, {
    maxChecks: 1,
    pollInterval: Schedule.recurs(0),
    waitFor: () => Duration.seconds(1)
  }),
  Layer.succeed(SignatureRequestTiming, { first: Duration.seconds(1), max: Duration.seconds(1) })
)

/**
 * What moved with the pools is not worth a trade, or each run would trade something else. Gas on Base has a price, so
 * that its transactions have a limit.
 */
const TestSettings = testSettingsWith({
  natives: new Map([[baseUsdc.chainId, baseWeth.assetId]]),
  swaps: {
    ...testSettings.swaps,
    defaults: { ...testSettings.swaps.defaults, thresholdUsd: 25n * Decimal.one }
  },
  scheduler: { ...testSettings.scheduler, intervalMs: 250 }
})

const hasEnded = Effect.fnUntraced(function* ({ portfolioId }: Begun, operations: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly ended: number; readonly open: number }>`
    SELECT (SELECT count(*)::int FROM operations WHERE portfolio_id = ${portfolioId}
    AND finished_at IS NOT NULL) AS ended, (SELECT count(*)::int FROM workflow_messages WHERE finished_at IS NULL)
      + (SELECT count(*)::int FROM operations WHERE portfolio_id = ${portfolioId} AND finished_at IS NULL) AS open`
  return row!.ended >= operations && row!.open === 0
})

const ended = (begun: Begun, operations: number) =>
  hasEnded(begun, operations).pipe(
    Effect.filterOrFail((isEnded) => isEnded),
    Effect.retry(Schedule.spaced("100 millis")),
    Effect.timeout(patience),
    Effect.orDie
  )

/** Does the tasks in order, until the last one is done or the service has stopped. */
export const runService = Effect.fnUntraced(function* (config: ServiceConfig, report: (message: Message) => void) {
  const { begin, operations, world } = yield* Effect.promise(() => worldOf(config))
  const Service = SchedulerLive.pipe(
    Layer.provideMerge(engineOn(CrashingRuntime)),
    Layer.provide(config.journal === null ? Layer.empty : Timing),
    Layer.provideMerge(crashingPorts),
    Layer.provideMerge(CurrentBalances),
    Layer.provideMerge(world as Layer.Layer<any>),
    Layer.provideMerge(FamiliesLive),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(databaseAt(config.database)),
    Layer.provideMerge(Boundaries.layer(report)),
    Layer.provideMerge(TestSettings),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
    Layer.provideMerge(hastyClock(config.since)),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn")),
    Layer.provide(Logger.layer([Logger.consolePretty({ colors: false })]))
  )
  const services = yield* Layer.build(Layer.fresh(Service))

  const run = Effect.fnUntraced(function* (task: Task) {
    const boundaries = yield* Boundaries
    const begun = task._tag === "Begin" ? yield* begin : task.begun
    if (task._tag === "Begin") report({ _tag: "Begun", begun })
    boundaries.arm(task.doom)
    if (task._tag === "Begin") yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch(begun))
    yield* ended(begun, operations)
    yield* boundaries.quiet
    boundaries.arm()
    report({ _tag: "Ended", state: yield* finalState(begun) })
  })

  // What has stopped is never left again, so nobody waits for it.
  const tasks = yield* Effect.forEach(config.tasks, run, { discard: true }).pipe(
    Effect.provideContext(services),
    Effect.forkDetach
  )
  const { stopped } = Context.get(services, Boundaries)
  yield* Effect.raceFirst(Fiber.join(tasks), stopped)
}) as (config: ServiceConfig, report: (message: Message) => void) => Effect.Effect<void, never, Scope.Scope>
