import { assert, describe, it } from "@effect/vitest"
import { intervalMs } from "#domain/mandate/RebalanceSchedule.ts"
import { retryDelayMs, sliceDelayMs } from "#domain/rebalance/retryDelay.ts"

const minute = 60_000
const delays = (interval: number, chance: number) =>
  Array.from({ length: 14 }, (_, retries) => retryDelayMs(retries, interval, chance) / minute)

describe("retryDelayMs", () => {
  it("is 1, 5 and 15 minutes, then twice as much each time up to the period", () => {
    assert.deepStrictEqual(
      delays(intervalMs.daily, 0.5),
      [1, 5, 15, 30, 60, 120, 240, 480, 960, 1440, 1440, 1440, 1440, 1440]
    )
    assert.deepStrictEqual(delays(intervalMs.hourly, 0.5).slice(0, 6), [1, 5, 15, 30, 60, 60])
  })

  it("is a fifth less or more by chance, and never above the period", () => {
    assert.deepStrictEqual(delays(intervalMs.hourly, 0), [0.8, 4, 12, 24, 48, ...Array<number>(9).fill(60)])
    assert.deepStrictEqual(delays(intervalMs.hourly, 1), [1.2, 6, 18, 36, ...Array<number>(10).fill(60)])
  })
})

describe("sliceDelayMs", () => {
  const hour = 60 * minute
  const checking = { retries: 1, intervalMs: intervalMs.daily, untilDueMs: 24 * hour, chance: 0 }

  it("spreads the slices that are left evenly over the time that is left, at most an hour apart", () => {
    assert.strictEqual(sliceDelayMs({ left: 95 }, checking), 15 * minute)
    assert.strictEqual(sliceDelayMs({ left: 3 }, checking), hour)
    assert.strictEqual(sliceDelayMs({ left: 3 }, { ...checking, chance: 1 }), 0.8 * hour)
    assert.strictEqual(sliceDelayMs({ left: 100_000 }, checking), minute)
  })

  for (const frequency of ["hourly", "daily", "weekly", "monthly"] as const) {
    it(`makes up to forty slices before a period is over: ${frequency}`, () => {
      for (const slices of [1, 2, 7, 40]) {
        for (const chance of [0, 0.5, 1]) {
          let at = 0
          for (let left = slices; left > 0; left -= 1) {
            const untilDueMs = intervalMs[frequency] - at
            at += sliceDelayMs({ left }, { retries: 1, intervalMs: intervalMs[frequency], untilDueMs, chance })
          }
          assert.isBelow(at, intervalMs[frequency])
        }
      }
    })
  }

  it("checks a market that takes nothing now as often as one that does not answer, but at least once an hour", () => {
    const minutes = [0, 1, 2, 3, 4, 5, 20].map(
      (retries) => sliceDelayMs({ left: 0 }, { ...checking, retries, chance: 0.5 }) / minute
    )
    assert.deepStrictEqual(minutes, [1, 5, 15, 30, 60, 60, 60])
  })
})
