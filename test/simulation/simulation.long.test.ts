/**
 * A short simulation as part of the suite: some seeds hold, one seed gives the same events twice, and every kind of
 * invariant breaks when something is deliberately wrong.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { type Database, openDatabase } from "#test/simulation/harness/Database.ts"
import { simulate, type SimulationOptions } from "#test/simulation/Simulation.ts"
import { describeFailure } from "#test/simulation/summary.ts"
import type { Sabotage } from "#test/simulation/world/World.ts"

const scope = Scope.makeUnsafe()
let database: Database

beforeAll(async () => {
  database = await Effect.runPromise(Scope.provide(openDatabase, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const limit = 300_000

const holds = async (seed: number, options: SimulationOptions = {}) => {
  const end = await simulate(database, seed, options)
  assert.isNull(end.failure, end.failure === null ? "" : describeFailure(end))
  return end
}

/** The first of the seeds that shows it: not every seed gives every fault an occasion. */
const breaks = async (sabotage: Sabotage, invariant: string) => {
  const found: Array<string | undefined> = []
  for (const seed of [1, 2, 3, 4, 5]) {
    const { failure } = await simulate(database, seed, { sabotage })
    if (failure?.invariant === invariant) return
    found.push(failure?.invariant)
  }
  assert.fail(`"${sabotage}" led to ${found.join(", ")}, not to "${invariant}"`)
}

describe("a simulation", () => {
  it("holds, and is the same each time for one seed, whatever ran before", { timeout: limit }, async () => {
    const first = await holds(1, { badHours: 1 })
    const other = await holds(2, { badHours: 1 })
    const second = await holds(1, { badHours: 1 })
    assert.strictEqual(second.digest, first.digest)
    assert.strictEqual(second.turns, first.turns)
    assert.notStrictEqual(other.digest, first.digest)
    assert.isAbove((first.counts.get("sent") ?? 0) + (other.counts.get("sent") ?? 0), 0)
  })

  it("fails when an operation is signed twice", { timeout: limit }, () =>
    breaks("signs twice", "nothing lands that was not signed and stored")
  )

  it("fails when something is sent before it is stored", { timeout: limit }, () =>
    breaks("sends early", "only what is stored is sent")
  )

  it("fails when the ledger loses what left", { timeout: limit }, () =>
    breaks("ledger loses", "what left a chain is announced or in the ledger")
  )

  it("fails when receipts are not what the chain shows", { timeout: limit }, () =>
    breaks("receipts lie", "a receipt says what the chain shows")
  )

  it("fails when a batch of the account passes for a delivery", { timeout: limit }, () =>
    breaks("batches arrive", "a closed entry says how the transfer ended")
  )

  it("fails when a key is asked within a transaction of the database", { timeout: limit }, () =>
    breaks("signs within a transaction", "no transaction of the database is open while a key signs")
  )

  it("fails when something is traded without the attested price that it needs", { timeout: limit }, () =>
    breaks("trades unattested", "what needs an attested price is traded with one")
  )

  it("fails when what is due is not claimed", { timeout: limit }, () =>
    breaks("never claims", "what is due is claimed in time")
  )
})
