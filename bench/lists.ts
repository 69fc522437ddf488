/**
 * Whether a page costs the same at any depth: every list through its store, over a million portfolios and a million
 * strategies of one tenant, the first page against one at 90 percent; and what the database takes for discovery.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { type Spread, spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { fill, publicCount, rowCount, versionCount } from "#bench/lists/fill.ts"
import { discoveryLists, limit, tenantLists } from "#bench/lists/lists.ts"
import { measureList, rounds, serverMillis } from "#bench/lists/measureList.ts"
import { AnalyticsStore } from "#domain/discovery/AnalyticsStore.ts"
import * as AnalyticsStoreLive from "#layers/sql/discovery/AnalyticsStore.ts"
import * as DiscoveryStore from "#layers/sql/discovery/DiscoveryStore.ts"
import * as PortfolioStore from "#layers/sql/portfolio/PortfolioStore.ts"
import * as StrategyStore from "#layers/sql/strategy/StrategyStore.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"

const depthTarget = 1.2
const serverTarget = 1

const stores = (url: string) =>
  Layer.mergeAll(PortfolioStore.layer, StrategyStore.layer, DiscoveryStore.layer, AnalyticsStoreLive.layer).pipe(
    Layer.provideMerge(databaseLayer(url)),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

const row = (name: string, cells: ReadonlyArray<string>): string =>
  `  ${name.padEnd(30)}${cells.map((cell) => cell.padStart(24)).join("")}`

const cell = ({ max, median, min }: Spread, digits: number): string =>
  [min, median, max].map((value) => value.toFixed(digits)).join(" / ")

const measureDepth = Effect.gen(function* () {
  yield* Console.log(
    [
      "",
      `Lists, pages of ${limit}, least / median / most of ${rounds} rounds; ${rowCount.toLocaleString("en-US")} portfolios and strategies, ${publicCount.toLocaleString("en-US")} of them public, ${versionCount.toLocaleString("en-US")} versions`,
      row("", ["first page, ms", "at 90 percent, ms", "ratio"])
    ].join("\n")
  )
  for (const list of [...(yield* tenantLists), ...(yield* discoveryLists)]) {
    const { deep, first, name } = yield* measureList(list)
    const ratio = spreadOfRatios(deep, first)
    const missed = ratio.median > depthTarget ? "  missed" : ""
    yield* Console.log(row(name, [cell(spreadOf(first), 3), cell(spreadOf(deep), 3), cell(ratio, 2)]) + missed)
  }
  yield* Console.log(`  Target: a median ratio of at most ${depthTarget.toFixed(2)}`)
})

const measureServer = Effect.gen(function* () {
  yield* Console.log(
    ["", "Discovery, milliseconds of the server (EXPLAIN ANALYZE)", row("", ["first page", "at 90 percent"])].join("\n")
  )
  for (const { deep, first, name } of yield* discoveryLists) {
    const [atFirst, atDepth] = [yield* serverMillis(first), yield* serverMillis(deep)]
    const cells = [atFirst, atDepth].map(({ execution }) => cell(spreadOf(execution), 3))
    const worst = Math.max(spreadOf(atFirst.execution).median, spreadOf(atDepth.execution).median)
    yield* Console.log(row(name, cells) + (worst >= serverTarget ? "  missed" : ""))
    const planning = [atFirst, atDepth].map((measured) => cell(spreadOf(measured.planning), 3))
    yield* Console.log(row("  planning", planning))
  }
  yield* Console.log(`  Target: a median below ${serverTarget} ms`)
})

/** The first pass finds every number changed, the second none: between these two is every other. */
const measurePass = Effect.gen(function* () {
  const store = yield* AnalyticsStore
  const seconds = Effect.gen(function* () {
    const start = performance.now()
    yield* store.measure({
      freshSince: DateTime.makeUnsafe("2026-03-05T18:00:00Z"),
      valuedIfBefore: DateTime.makeUnsafe("2026-03-07T12:00:00Z"),
      flowsSince: DateTime.makeUnsafe("2026-03-01T18:00:00Z")
    })
    return ((performance.now() - start) / 1000).toFixed(1)
  })
  const [all, none] = [yield* seconds, yield* seconds]
  yield* Console.log(
    `\nOne pass of the analytics over ${publicCount.toLocaleString("en-US")} strategies and a week of valuations: ${all} s when all numbers change, ${none} s when none does`
  )
})

const program = Effect.gen(function* () {
  const database = yield* benchDatabase
  yield* Console.log("Filling the database ...")
  yield* Effect.provide(
    Effect.gen(function* () {
      yield* fill
      yield* measureDepth
      yield* measureServer
      yield* measurePass
    }),
    stores(database)
  )
})

export const run = (): Promise<void> => runUntilSignal(program)
