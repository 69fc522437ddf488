/** How runs a second grow with the processes that share a database: one, two and four, in turns. */
import { Console, Effect, Layer } from "effect"
import { countFinished, makeBroadcasts, startEngine, until } from "#bench/engine/engines.ts"
import { fill, fillGrants, makeDue } from "#bench/engine/fill.ts"
import { spreadHeading, spreadLine } from "#bench/engine/spreadLine.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"

const processes = [1, 2, 4]
const rounds = 3
const runsOfARound = 1_000

/** Runs a second of so many processes, from the moment that all portfolios are due. */
const rateOf = (count: number) =>
  Effect.gen(function* () {
    const url = yield* benchDatabase
    yield* Effect.gen(function* () {
      yield* Effect.all([fill(4, runsOfARound), fillGrants(runsOfARound), makeBroadcasts])
    }).pipe(Effect.provide(AssetStore.layer.pipe(Layer.provideMerge(databaseLayer(url)))))
    yield* Effect.all(
      Array.from({ length: count }, () => startEngine({ url, delayMs: 0, maxRuns: 256, stalls: false })),
      { concurrency: count }
    )
    return yield* Effect.gen(function* () {
      yield* makeDue(runsOfARound)
      const start = performance.now()
      yield* until(Effect.map(countFinished, (finished) => finished === runsOfARound))
      return (runsOfARound * 1000) / (performance.now() - start)
    }).pipe(Effect.provide(databaseLayer(url)))
  }).pipe(Effect.scoped)

export const scaling = Effect.gen(function* () {
  const rates = processes.map((): Array<number> => [])
  for (let round = 0; round < rounds; round += 1)
    for (const [index, count] of processes.entries()) rates[index]!.push(yield* rateOf(count))
  yield* Console.log(
    [
      "",
      `${runsOfARound.toLocaleString("en-US")} due runs shared by processes of one database; ${rounds} interleaved rounds`,
      spreadHeading,
      ...processes.map((count, index) => spreadLine(`${count} processes: runs/s`, spreadOf(rates[index]!))),
      ...processes
        .slice(1)
        .map((count, index) => spreadLine(`${count} processes / one`, spreadOfRatios(rates[index + 1]!, rates[0]!), 2))
    ].join("\n")
  )
})
