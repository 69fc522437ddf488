/** What the refresh asks for next, of all that there is to fetch. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import * as fc from "fast-check"
import type { MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import { dueJobs } from "#domain/marketData/MarketDataRefresh.ts"
import type { DatasetState } from "#domain/marketData/MarketDataStore.ts"

const now = Date.UTC(2026, 2, 1, 12)
const minute = 60_000
const job = (name: string, priority = 0, minutes = 10): MarketDataJob => ({
  name,
  provider: "coingecko",
  interval: Duration.minutes(minutes),
  priority,
  fetch: Effect.succeed({ data: [], problems: [] })
})
/** Fetched and attempted so many minutes ago; null: never fetched. */
const state = (name: string, fetched: number | null, attempted = fetched ?? 0): DatasetState => ({
  name,
  revision: 1n,
  fetchedAt: fetched === null ? null : DateTime.makeUnsafe(now - fetched * minute),
  attemptedAt: DateTime.makeUnsafe(now - attempted * minute)
})
const due = (jobs: ReadonlyArray<MarketDataJob>, states: ReadonlyArray<DatasetState>) =>
  dueJobs(jobs, states, now).map(({ name }) => name)

describe("due jobs", () => {
  it("are those that nobody has tried yet, and those whose data is as old as their interval", () => {
    const states = [state("fresh", 9.99), state("old", 10), state("older", 15), state("hourly", 30)]
    const jobs = [job("new"), job("fresh"), job("old"), job("older"), job("hourly", 0, 60)]
    assert.deepStrictEqual(due(jobs, states), ["new", "older", "old"])
  })

  it("do not include what failed less than a minute ago, and include it a minute after", () => {
    assert.deepStrictEqual(due([job("a")], [state("a", null, 0.99)]), [])
    assert.deepStrictEqual(due([job("a")], [state("a", null, 1)]), ["a"])
    assert.deepStrictEqual(due([job("a")], [state("a", 30, 0.5)]), [])
    assert.deepStrictEqual(due([job("a")], [state("a", 30, 2)]), ["a"])
  })

  it("come by priority, then what was never fetched, then the oldest, then by name", () => {
    const jobs = [job("late", 2), job("b", 1), job("a", 1), job("never", 1), job("oldest", 1), job("first", 0)]
    const states = [
      state("late", 500),
      state("a", 20),
      state("b", 20),
      state("never", null, 5),
      state("oldest", 40),
      state("first", 11)
    ]
    assert.deepStrictEqual(due(jobs, states), ["first", "never", "oldest", "a", "b", "late"])
  })

  it("states of datasets that nothing fetches any more change nothing", () =>
    assert.deepStrictEqual(due([job("a")], [state("gone", 1_000)]), ["a"]))

  it("whatever the states, each due job is there once, and no other", () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.record({
            name: fc.string({ minLength: 1, maxLength: 3 }),
            priority: fc.integer({ min: 0, max: 4 }),
            every: fc.integer({ min: 1, max: 60 }),
            fetched: fc.option(fc.integer({ min: 0, max: 100 })),
            attempted: fc.integer({ min: 0, max: 100 }),
            isKnown: fc.boolean()
          }),
          { selector: ({ name }) => name, maxLength: 30 }
        ),
        (drawn) => {
          const jobs = drawn.map(({ every, name, priority }) => job(name, priority, every))
          const states = drawn.flatMap(({ attempted, fetched, isKnown, name }) =>
            isKnown ? [state(name, fetched, Math.min(attempted, fetched ?? 100))] : []
          )
          const expected = drawn
            .filter(
              ({ attempted, every, fetched, isKnown }) =>
                !isKnown || ((fetched ?? 1_000) >= every && Math.min(attempted, fetched ?? 100) >= 1)
            )
            .map(({ name }) => name)
          const found = dueJobs(jobs, states, now)
          assert.deepStrictEqual(found.map(({ name }) => name).toSorted(), expected.toSorted())
          const priorities = found.map(({ priority }) => priority)
          assert.deepStrictEqual(
            priorities,
            priorities.toSorted((a, b) => a - b)
          )
        }
      )
    ))
})
