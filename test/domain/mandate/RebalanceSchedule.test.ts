import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import fc from "fast-check"
import { intervalMs, nextDueAt } from "#domain/mandate/RebalanceSchedule.ts"

const at = (text: string) => DateTime.makeUnsafe(text)

describe("nextDueAt", () => {
  it.each([
    ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"],
    ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:30.000Z", "2026-01-02T00:00:00.000Z"],
    ["2026-01-01T00:00:00.000Z", "2026-01-04T12:00:00.000Z", "2026-01-05T00:00:00.000Z"],
    ["2026-01-01T00:00:00.000Z", "2026-01-03T00:00:00.000Z", "2026-01-04T00:00:00.000Z"]
  ])("due %s and claimed %s is due again %s", (due, now, next) =>
    assert.strictEqual(DateTime.formatIso(nextDueAt(at(due), at(now), "daily")), next)
  )

  it("is the first point of the grid after now, for any number of missed periods", () =>
    fc.assert(
      fc.property(
        fc.constantFrom("hourly", "daily", "weekly", "monthly"),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        fc.integer({ min: 0, max: 200_000_000_000 }),
        (frequency, due, late) => {
          const next = nextDueAt(DateTime.makeUnsafe(due), DateTime.makeUnsafe(due + late), frequency).epochMilliseconds
          assert.isAbove(next, due + late)
          assert.isAtMost(next - (due + late), intervalMs[frequency])
          assert.strictEqual((next - due) % intervalMs[frequency], 0)
        }
      )
    ))
})
