/**
 * What waiting costs and how late it wakes: 100,000 workflows that wait for prices, a thousand price ticks a second,
 * the service's own fiber and store. A wake is counted when its transaction is committed.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Console, DateTime, Effect, Layer } from "effect"
import { instant, noChain } from "#bench/engine/noChain.ts"
import { benchSettings } from "#bench/engine/settings.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import {
  assetIds,
  fillMonitors,
  firstPrice,
  levelsReached,
  monitorCount,
  workflowIdOf
} from "#bench/monitors/fillMonitors.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { Prices } from "#domain/market/Prices.ts"
import { MonitorDriver } from "#domain/monitor/MonitorDriver.ts"
import { MonitorTicks } from "#domain/monitor/MonitorTicks.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

const seconds = 30
const ticksPerSecond = 1_000
const roundMillis = 10
/** What a tick adds to a price: a level is passed at every third or so. */
const priceStep = Decimal.one / 60n
const p99TargetMillis = 1_000
const settleSeconds = 20

const book = new Map<AssetId, bigint>(assetIds.map((assetId) => [assetId, firstPrice]))
/** Times at which the price of each workflow reached its level, in milliseconds. */
const reachedAt = new Map<string, number>()
const delays: Array<number> = []
const done = { ticks: 0 }

const tick = () => {
  const asset = done.ticks % assetIds.length
  const assetId = assetIds[asset]!
  const before = book.get(assetId)!
  const after = before + priceStep
  book.set(assetId, after)
  const now = performance.now()
  for (let position = levelsReached(before); position < levelsReached(after); position += 1)
    reachedAt.set(workflowIdOf(asset, position), now)
  done.ticks += 1
}

const BookPrices = Layer.succeed(Prices, {
  latest: (wanted) =>
    Effect.map(DateTime.now, (asOf) => new Map(wanted.map((assetId) => [assetId, { usd: book.get(assetId)!, asOf }])))
})

/** The service's ticks, with a note of when each that was woken is committed. */
const NotedTicks = Layer.effect(
  MonitorTicks,
  Effect.map(MonitorTicks, ({ run }) =>
    MonitorTicks.of({
      run: (monitors, key) =>
        Effect.tap(run(monitors, key), (advanced) =>
          Effect.sync(() => {
            const now = performance.now()
            for (const { workflowId } of advanced) {
              const reached = reachedAt.get(workflowId)
              if (reached === undefined) continue
              delays.push(now - reached)
              reachedAt.delete(workflowId)
            }
          })
        )
    })
  )
).pipe(Layer.provide(MonitorTicks.layer))

const service = (url: string) =>
  MonitorDriver.fiber.pipe(
    Layer.provide(MonitorDriver.layer),
    Layer.provide(NotedTicks),
    Layer.provide(InTransit.layer),
    Layer.provide(EngineLive),
    Layer.provide(Layer.mergeAll(SqlLive, noChain(instant), BookPrices)),
    Layer.provide(Layer.mergeAll(databaseLayer(url), benchSettings())),
    Layer.provide(NodeCrypto.layer)
  )

const at = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

const market = Effect.gen(function* () {
  const begun = performance.now()
  while (done.ticks < seconds * ticksPerSecond) {
    const due = Math.floor(((performance.now() - begun) / 1000) * ticksPerSecond)
    for (let late = due - done.ticks; late > 0; late -= 1) tick()
    yield* Effect.sleep(roundMillis)
  }
  return (performance.now() - begun) / 1000
})

const measure = Effect.gen(function* () {
  const took = yield* market
  for (let waited = 0; waited < settleSeconds && reachedAt.size > 0; waited += 1) yield* Effect.sleep(1_000)
  const sorted = delays.toSorted((a, b) => a - b)
  const evaluations = (done.ticks * monitorCount) / assetIds.length / took
  const p99 = at(sorted, 0.99)
  yield* Console.log(
    [
      `Monitors: ${monitorCount.toLocaleString("en-US")} that wait, ${Math.round(done.ticks / took)} price ticks a second for ${seconds} s`,
      `  triggers judged       ${Math.round(evaluations).toLocaleString("en-US")} a second, by their ranges`,
      `  woken                 ${sorted.length.toLocaleString("en-US")}, ${Math.round(sorted.length / took)} a second; ${reachedAt.size} not within ${settleSeconds} s`,
      `  from tick to wake     median ${Math.round(at(sorted, 0.5))} ms, p99 ${Math.round(p99)} ms, most ${Math.round(at(sorted, 1))} ms`,
      `  Target: a p99 below ${p99TargetMillis} ms${p99 < p99TargetMillis && reachedAt.size === 0 ? "" : ": missed"}`
    ].join("\n")
  )
})

const program = Effect.gen(function* () {
  const database = yield* benchDatabase
  yield* Effect.provide(fillMonitors, databaseLayer(database))
  yield* Effect.provide(measure, service(database))
})

export const run = (): Promise<void> => runUntilSignal(program)
