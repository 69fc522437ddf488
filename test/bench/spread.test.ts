import { describe, expect, it } from "vitest"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"

describe("spreadOf", () => {
  it("takes the middle value of an odd series", () => {
    expect(spreadOf([9, 1, 4])).toEqual({ min: 1, median: 4, max: 9 })
  })

  it("takes the mean of the two middle values of an even series", () => {
    expect(spreadOf([10, 2, 4, 8])).toEqual({ min: 2, median: 6, max: 10 })
  })

  it("sorts by value, not by text", () => {
    expect(spreadOf([100, 20, 3])).toEqual({ min: 3, median: 20, max: 100 })
  })

  it("refuses an empty series", () => {
    expect(() => spreadOf([])).toThrow(RangeError)
  })
})

describe("spreadOfRatios", () => {
  it("divides within a round, so a disturbance of a whole round cancels out", () => {
    expect(spreadOfRatios([100, 10, 50], [200, 20, 50])).toEqual({ min: 0.5, median: 0.5, max: 1 })
  })

  it("refuses series of different lengths", () => {
    expect(() => spreadOfRatios([1, 2], [1])).toThrow(RangeError)
  })
})
