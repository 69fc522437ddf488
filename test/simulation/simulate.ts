/**
 * Runs simulations: `npm run simulate -- --seeds 200`, or one of them again with what happened in it:
 * `npm run simulate -- --seed 17 --trace`. Ends with 1 when a seed failed.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { describeFailure, summarize } from "#test/simulation/summary.ts"
import { openDatabase } from "#test/simulation/harness/Database.ts"
import { simulate, type SimulationEnd } from "#test/simulation/Simulation.ts"
import { simulateSeeds } from "#test/simulation/simulateSeeds.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    workers: { type: "string", default: "2" }
  }
})

const wholeNumber = (name: string, text: string): number => {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  console.error(`--${name} takes a whole number, not ${text}`)
  process.exit(2)
}

/** One seed in this process. */
const repeat = (seed: number): Promise<SimulationEnd> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(openDatabase, (database) =>
        Effect.promise(() => simulate(database, seed, values.trace ? { print: console.log } : {}))
      )
    )
  )

/** How often it is said how many seeds have ended. */
const progressMillis = 10_000

const startedAt = performance.now()
const ends: Array<SimulationEnd> = []
const take = (end: SimulationEnd): void => {
  ends.push(end)
  if (end.failure !== null) console.log(describeFailure(end))
}

if (values.seed === undefined) {
  const count = wholeNumber("seeds", values.seeds)
  const progress = setInterval(() => {
    const failed = ends.filter(({ failure }) => failure !== null).length
    console.log(
      `${ends.length} of ${count} seeds after ${Math.round((performance.now() - startedAt) / 1000)} s, ${failed} failed`
    )
  }, progressMillis)
  const workers = wholeNumber("workers", values.workers)
  await simulateSeeds({ first: wholeNumber("from", values.from), count, workers }, take)
  clearInterval(progress)
} else take(await repeat(wholeNumber("seed", values.seed)))

console.log(summarize(ends, performance.now() - startedAt))
process.exitCode = ends.some(({ failure }) => failure !== null) ? 1 : 0
