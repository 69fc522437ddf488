/** The times at which an event that is not accepted is sent again. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { afterFailure, delayMs } from "#domain/webhook/retries.ts"

const start = DateTime.makeUnsafe("2026-03-01T12:00:00.000Z")
const day = 86_400_000
const after = (milliseconds: number) => DateTime.add(start, { milliseconds })
const since = (at: DateTime.Utc) => at.epochMilliseconds - start.epochMilliseconds

/** Milliseconds after the first attempt at which one event is tried at a webhook that accepts others meanwhile. */
const attemptsOf = (chance: () => number): ReadonlyArray<number> => {
  const times = [0]
  for (;;) {
    const now = after(times.at(-1)!)
    const failed = { attempts: times.length, firstAttemptAt: start, failures: 1, failingSince: now }
    const { dueAt } = afterFailure(failed, now, chance())
    if (dueAt === null) return times
    times.push(since(dueAt))
  }
}

describe("retries", () => {
  it("come after 5 seconds, then three times as long each time up to 6 hours, over a day", () => {
    const times = attemptsOf(() => 0.5)
    const gaps = times.slice(1).map((time, index) => (time - times[index]!) / 1000)
    assert.deepStrictEqual(gaps.slice(0, 9), [5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 21_600])
    assert.strictEqual(times.at(-1), day)
    assert.lengthOf(times, 13)
  })

  it("are drawn around that, always grow up to the longest, and end exactly a day after the first attempt", () =>
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 0.999_999, noNaN: true })), (chances) => {
        const times = attemptsOf(() => chances.next().value)
        assert.strictEqual(times.at(-1), day)
        assert.isAtLeast(times.length, 11)
        assert.isAtMost(times.length, 15)
        for (const [index, time] of times.slice(1, 7).entries()) {
          const [base, gap] = [5_000 * 3 ** index, time - times[index]!]
          assert.isTrue(gap >= base * 0.8 && gap <= base * 1.2, `${gap} of ${base}`)
        }
      })
    ))

  it("rest the webhook for 5 minutes at most, so that it is asked now and then", () => {
    const restOf = (failures: number) =>
      since(afterFailure({ attempts: 1, firstAttemptAt: start, failures, failingSince: start }, start, 0.5).restsUntil)
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 50].map((failures) => restOf(failures) / 1000),
      [5, 15, 45, 135, 300, 300]
    )
    assert.isTrue(Number.isSafeInteger(delayMs(Number.MAX_SAFE_INTEGER, day, 0.5)))
  })

  it("wait as long as the receiver asks for, up to an hour, and never beyond the day", () => {
    const failed = { attempts: 1, firstAttemptAt: start, failures: 1, failingSince: start }
    const askedFor = (retryAfterSeconds: number, at = 0) => {
      const { dueAt, restsUntil } = afterFailure({ ...failed, retryAfterSeconds }, after(at), 0.5)
      return [since(dueAt!), since(restsUntil)].map((time) => (time - at) / 1000)
    }
    assert.deepStrictEqual(askedFor(1), [5, 5])
    assert.deepStrictEqual(askedFor(120), [120, 120])
    assert.deepStrictEqual(askedFor(999_999), [3_600, 3_600])
    assert.deepStrictEqual(askedFor(999_999, day - 60_000), [60, 3_600])
  })

  it("end with the webhook disabled, and the event waiting, when nothing was accepted for a day", () => {
    const failed = { attempts: 9, firstAttemptAt: start, failures: 90, failingSince: start }
    assert.isFalse(afterFailure(failed, after(day - 1), 0.5).isDisabled)
    assert.deepInclude(afterFailure(failed, after(day), 0.5), { isDisabled: true, dueAt: after(day) })
  })
})
