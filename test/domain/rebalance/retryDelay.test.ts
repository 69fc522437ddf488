import { assert, describe, it } from "@effect/vitest"
import { intervalMs } from "#domain/RebalanceSchedule.ts"
import { retryDelayMs } from "#domain/rebalance/retryDelay.ts"

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
