import { assert, describe, it } from "@effect/vitest"
import { movedDueAt } from "#domain/strategy/movedDueAt.ts"
import { intervalMs as intervals } from "#domain/mandate/RebalanceSchedule.ts"

const began = 1_750_000_000_000
const hour = intervals.hourly

describe("movedDueAt", () => {
  it("is the first end of an interval from the beginning of the cycle that is to come", () => {
    for (const [elapsed, intervalMs, expected] of [
      [0, hour, hour],
      [hour - 1, hour, hour],
      [hour, hour, 2 * hour],
      [5.5 * hour, hour, 6 * hour],
      [5.5 * hour, 24 * hour, 24 * hour],
      [5.5 * hour, intervals.monthly, intervals.monthly]
    ] as const) {
      assert.strictEqual(movedDueAt({ began, intervalMs }, began + elapsed, 0), began + expected)
    }
  })

  it("is later by chance, evenly up to a tenth of the interval and an hour at most", () => {
    for (const [interval, most] of [
      [hour, hour / 10],
      [intervals.monthly, hour]
    ] as const) {
      for (const chance of [0, 0.25, 0.5, 0.999_999]) {
        const late = movedDueAt({ began, intervalMs: interval }, began, chance) - began - interval
        assert.isTrue(late < most && Math.abs(late - chance * most) <= 1, `${late} ms by a chance of ${chance}`)
      }
    }
  })
})
