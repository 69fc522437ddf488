/**
 * Twenty seeds of the simulator: whatever faults they draw, every invariant holds. `npm run simulate` runs two hundred
 * and any others.
 */
import { assert, it } from "vitest"
import { simulateSeeds } from "#test/simulation/simulateSeeds.ts"
import { describeFailure } from "#test/simulation/summary.ts"
import type { SimulationEnd } from "#test/simulation/Simulation.ts"

const seeds = { first: 1, count: 20, workers: 2 }

it("all invariants hold in twenty seeds", { timeout: 1_800_000 }, async () => {
  const ends: Array<SimulationEnd> = []
  await simulateSeeds(seeds, (end) => ends.push(end))
  assert.lengthOf(ends, seeds.count)
  assert.deepStrictEqual(ends.filter(({ failure }) => failure !== null).map(describeFailure), [])
})
