import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as Day from "#domain/values/Day.ts"

const at = (text: string) => DateTime.makeUnsafe(text)

describe("Day", () => {
  it("is the UTC day of a moment, from its first millisecond to its last", () => {
    const day = Day.of(at("2026-03-02T00:00:00.000Z"))
    assert.strictEqual(Day.of(at("2026-03-02T23:59:59.999Z")), day)
    assert.strictEqual(Day.of(at("2026-03-01T23:59:59.999Z")), day - 1)
    assert.strictEqual(Day.format(day), "2026-03-02")
    assert.strictEqual(DateTime.formatIso(Day.start(day)), "2026-03-02T00:00:00.000Z")
  })

  it.each([
    ["2026-03-15", 1, "2026-02-15"],
    ["2026-03-31", 1, "2026-02-28"],
    ["2024-03-31", 1, "2024-02-29"],
    ["2026-01-10", 3, "2025-10-10"],
    ["2024-02-29", 12, "2023-02-28"]
  ])("%s, %i months before, is %s", (day, months, expected) =>
    assert.strictEqual(Day.format(Day.monthsBefore(Day.of(at(`${day}T12:00:00Z`)), months)), expected)
  )
})
