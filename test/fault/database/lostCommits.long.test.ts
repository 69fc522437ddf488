/**
 * PostgreSQL fails over to a copy that has not seen the last commits: signatures, receipts and ends are gone, and the
 * bytes are on their way or on the chain. The runs go on from what the chain and the database say.
 *
 * Orders of owners (swaps, calls) are not among them: decision 211 says what they need.
 */
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Redacted, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Decimal from "#domain/Decimal.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { Settings } from "#domain/Settings.ts"
import { engineOn, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { honestChains } from "#test/fault/database/honestChains.ts"
import { marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { marketWorld, noFaults } from "#test/fault/crash/marketWorld.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { TestChain } from "#test/support/chains/TestMarket.ts"
import { postgresServer } from "#test/support/PostgresServer.ts"
import { testSettings } from "#test/support/settings.ts"

/** What begins in these, where the script has no faults. */
const { begin: withdrawal } = marketScenarios["a withdrawal that is cancelled while its key is silent"]
const { begin: rebalance } = marketScenarios["a rebalance that waits for its owner to sign anew"]
const ofEach = 9

/** One operation in each transaction, as these chains have it. */
const alone = Effect.map(TestChain, (market) => void (market.bundleGas = 1n))

/** What a trade cost is not worth another one. */
const Unmoved = Layer.succeed(Settings, {
  ...testSettings,
  defaultSwap: { ...testSettings.defaultSwap, thresholdUsd: 25n * Decimal.one }
})

/** Keys and chains take their time, so that runs are everywhere when the server goes. */
const slowly = Layer.effect(
  Relayer,
  Effect.map(Relayer, (relayer) =>
    Relayer.of({
      ...relayer,
      sign: (...asked) => Effect.delay(relayer.sign(...asked), "150 millis"),
      broadcast: (transaction) => Effect.delay(relayer.broadcast(transaction), "150 millis")
    })
  )
)

const serviceOn = (url: string, journal: string) =>
  SchedulerLive.pipe(
    Layer.provideMerge(engineOn(WorkflowRuntime)),
    Layer.provide(
      Layer.succeed(RelayTiming, { searchFor: Duration.millis(400), betweenSearches: Duration.millis(20) })
    ),
    Layer.provideMerge(honestChains),
    Layer.provideMerge(slowly),
    Layer.provideMerge(marketWorld(journal, noFaults)),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(
      Migrations.layer.pipe(
        Layer.provideMerge(Database.layer),
        Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections: 10 }))
      )
    ),
    Layer.provideMerge(Unmoved),
    Layer.provideMerge(NodeCrypto.layer)
  )

const journalFile = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "ballast-lost-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "chains.jsonl")
)

/** How many attempts are signed, and how many have a receipt, when the copy is made and when the server goes. */
const cuts = [
  ["nothing is settled in the copy", { signed: 1, settled: 0 }, { signed: 6, settled: 3 }],
  ["some is signed in the copy", { signed: 4, settled: 0 }, { signed: 12, settled: 8 }],
  ["some is settled in the copy", { signed: 8, settled: 4 }, { signed: 16, settled: 12 }]
] as const

describe("a failover to a copy that lost the last commits", () => {
  if (postgresServer === undefined) {
    it.skip("skipped because initdb, postgres and pg_basebackup are not installed", () => {})
    return
  }
  const newServer = postgresServer

  it.live.each(cuts.flatMap((cut) => [[...cut, false] as const, [...cut, true] as const]))(
    "%s: no rebalance and no withdrawal fails or is paid twice (restarted: $3)",
    ([, copied, lost, isRestarted]) =>
      Effect.gen(function* () {
        const server = yield* newServer
        const journal = yield* journalFile
        const start = Effect.gen(function* () {
          const scope = yield* Scope.fork(yield* Effect.scope)
          const service = yield* Layer.buildWithScope(Layer.fresh(serviceOn(server.url, journal)), scope)
          yield* Effect.provideContext(alone, service)
          return { service, stop: Scope.close(scope, Exit.void) }
        })
        const first = yield* start
        const begun = yield* Effect.all([withdrawal, rebalance]).pipe(
          Effect.replicateEffect(ofEach),
          Effect.map((all) => all.flat()),
          Effect.provideContext(first.service)
        )
        const progress = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ readonly signed: number; readonly settled: number }>`
            SELECT count(*)::int AS signed, count(receipt)::int AS settled FROM relayed_actions`
          return row!
        }).pipe(Effect.provideContext(first.service))
        const reached = (mark: { readonly signed: number; readonly settled: number }) =>
          Effect.repeat(progress, {
            until: ({ settled, signed }) => signed >= mark.signed && settled >= mark.settled
          }).pipe(Effect.timeout("60 seconds"))
        const launch = (some: typeof begun) =>
          Effect.forEach(some, (one) => Effect.flatMap(OperationLauncher, (launcher) => launcher.launch(one)), {
            discard: true
          })
        yield* Effect.provideContext(launch(begun.slice(0, ofEach)), first.service)

        yield* reached(copied)
        yield* server.copy
        const inCopy = yield* progress
        // Others are settled of which the copy does not know.
        yield* Effect.provideContext(launch(begun.slice(ofEach)), first.service)
        yield* reached({ signed: lost.signed, settled: Math.max(lost.settled, inCopy.settled + 2) })
        yield* server.crash
        if (isRestarted) yield* first.stop
        yield* server.start
        const { service } = isRestarted ? yield* start : first
        // What the copy does not know to be launched, as the scheduler does after a while.
        yield* Effect.eventually(Effect.sandbox(Effect.provideContext(launch(begun), service)))

        const open = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`
            SELECT 1 FROM operations WHERE finished_at IS NULL
            UNION ALL SELECT 1 FROM workflow_messages WHERE finished_at IS NULL`
        )
        yield* open.pipe(
          Effect.filterOrFail((rows) => rows.length === 0),
          Effect.retry(Schedule.spaced("100 millis")),
          Effect.timeout("100 seconds"),
          Effect.provideContext(service)
        )
        const states = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`
            SELECT kind, state, error, count(*)::int AS operations FROM operations GROUP BY 1, 2, 3 ORDER BY 1, 2`
        ).pipe(Effect.provideContext(service))
        assert.deepStrictEqual(
          states,
          ["rebalance", "withdraw"].map((kind) => ({
            kind,
            state: "completed",
            error: null,
            operations: ofEach
          }))
        )
        // What the same operation's second transaction finds done counts for nothing, so the balances tell.
        const market = yield* Effect.provideContext(TestChain, service)
        for (const { accounts, kind } of begun) {
          const left = Number(market.balance(accounts[0]!, baseUsdc.assetId)) / 1e6
          if (kind === "withdraw") assert.strictEqual(left, 300, "200 of 500 were withdrawn once")
          else assert.closeTo(left, 4_000, 30, "of 10,000 six were traded once")
        }
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([]))),
    200_000
  )
})
