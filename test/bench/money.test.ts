import { describe, expect, it } from "vitest"
import { percent, threshold, usd } from "#bench/peers/money.ts"

describe("the peer writes amounts in the interface's forms", () => {
  it("US dollars with six decimals, cut towards zero", () => {
    expect(usd(0n)).toBe("0.000000")
    expect(usd(1_999_999_999_999n)).toBe("0.000001")
    expect(usd(2_503_172_000_000_000_000_000n)).toBe("2503.172000")
  })

  it("a threshold with two to six decimals", () => {
    expect(threshold("5.000000000000000000")).toBe("5.00")
    expect(threshold("0.125000000000000000")).toBe("0.125")
    expect(threshold("1.000001000000000000")).toBe("1.000001")
    expect(threshold("7")).toBe("7.00")
  })

  it("weights as a percentage with two decimals", () => {
    expect([1, 2_500, 3_333, 10_000].map(percent)).toEqual(["0.01", "25.00", "33.33", "100.00"])
  })
})
