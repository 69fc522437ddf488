import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as Amount from "#domain/values/Amount.ts"
import * as Decimal from "#domain/values/Decimal.ts"

describe("Decimal", () => {
  it.each([
    ["0", 0n],
    ["1", Decimal.one],
    ["1.5", 1_500_000_000_000_000_000n],
    ["-0.000001", -1_000_000_000_000n],
    ["0.0000000000000000019", 1n]
  ])("reads %s", (text, value) => assert.strictEqual(Decimal.parse(text), value))

  it.each(["", ".5", "1.", "1e3", "+1", " 1", "0x1", "1,5"])("refuses %j", (text) =>
    assert.isUndefined(Decimal.parse(text))
  )

  it.each([
    [1.5e-7, 150_000_000_000n],
    [1e21, 10n ** 39n],
    [2500.123, 2_500_123_000_000_000_000_000n],
    [-0.1, -100_000_000_000_000_000n]
  ])("reads the JSON number %s exactly", (number, value) => assert.strictEqual(Decimal.fromNumber(number), value))

  it("has no value for what is not a finite number", () => {
    assert.isUndefined(Decimal.fromNumber(Number.NaN))
    assert.isUndefined(Decimal.fromNumber(Number.POSITIVE_INFINITY))
  })

  it("cuts, never rounds up, and never prints a negative zero", () => {
    assert.strictEqual(Decimal.formatUsd(Decimal.parse("1.9999999")!), "1.999999")
    assert.strictEqual(Decimal.format(Decimal.parse("-0.0000001")!, 6), "0.000000")
    assert.strictEqual(Decimal.format(Decimal.parse("-12.5")!, 2), "-12.50")
    assert.strictEqual(Decimal.format(Decimal.one, 0), "1")
  })

  it("what is written with 18 places reads back", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (value) => {
        assert.strictEqual(Decimal.parse(Decimal.format(value, 18)), value)
      })
    ))
})

describe("Amount", () => {
  it.each([
    [1_500_500_000n, 6, "1500.5"],
    [0n, 18, "0"],
    [1n, 18, "0.000000000000000001"],
    [100n, 0, "100"],
    [1_000_000n, 6, "1"]
  ])("%s at %s decimals prints as %s", (raw, decimals, text) => assert.strictEqual(Amount.format(raw, decimals), text))

  it("value and amount never gain by going there and back", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.integer({ min: 0, max: 18 }),
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        (raw, decimals, price) => {
          assert.isTrue(Amount.fromUsd(Amount.valueUsd(raw, decimals, price), decimals, price) <= raw)
        }
      )
    ))
})
