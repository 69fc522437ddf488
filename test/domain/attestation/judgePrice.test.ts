/** What is signed and what is taken: against the same rules written down another way. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import * as FastCheck from "fast-check"
import { agreedPrice, type AttestedToken, refusalOf } from "#domain/attestation/judgePrice.ts"
import * as Decimal from "#domain/values/Decimal.ts"

const day = 86_400
const start = 1_800_000_000

const anchor = { price: 100n * Decimal.one, next: 104n * Decimal.one, time: start }
const token: AttestedToken = { maxAge: 300, maxStepBps: 500, anchor }

/** The prices that are within a step of another, each end by itself, as fractions over 10,000. */
const isWithin = (price: bigint, { maxStepBps }: AttestedToken, ruling: bigint) => {
  const least = ruling * BigInt(10_000 - maxStepBps)
  const most = ruling * BigInt(10_000 + maxStepBps)
  return price * 10_000n >= least && price * 10_000n <= most
}

const priceNear = (anchor: bigint) =>
  FastCheck.oneof(
    FastCheck.bigInt(1n, anchor * 2n),
    // The very ends of each step.
    FastCheck.tuple(FastCheck.integer({ min: -5, max: 5 }), FastCheck.bigInt(-1n, 1n)).map(
      ([steps, off]) => anchor + (anchor * BigInt(500 * steps)) / 10_000n + off
    )
  )

describe("an attested price", () => {
  it("is taken within a step of the day before, however many days are idle, and while it is young enough", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.oneof(priceNear(anchor.price), priceNear(anchor.next)),
        FastCheck.integer({ min: 0, max: 12 * day }),
        FastCheck.integer({ min: -5, max: 900 }),
        (price, idle, age) => {
          const now = start + idle
          const refusal = refusalOf(token, { price, time: now - age }, now)
          const isFresh = age >= 0 && age <= 300
          const ruling = idle < day ? anchor.price : anchor.next
          const expected = isFresh ? (isWithin(price, token, ruling) ? undefined : "BEYOND_STEP") : "STALE"
          assert.strictEqual(refusal?.code, expected)
        }
      ),
      { numRuns: 3_000 }
    ))

  it("states the figures of a refusal", () => {
    const refusal = refusalOf(token, { price: 117n * Decimal.one, time: start + day }, start + day)
    assert.strictEqual(
      refusal?.reason,
      "117.000000 USD is 1250 basis points from 104.000000 USD of the day before; the chain takes 500"
    )
    assert.strictEqual(
      refusalOf(token, { price: anchor.price, time: start - 301 }, start)?.reason,
      "the price is 301 s old, the chain takes 300 s"
    )
  })

  it("is signed only where both sources stand for it, with the older of the market's time and the block's", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.option(FastCheck.bigInt(1n, 1_000_000n), { nil: undefined }),
        FastCheck.option(FastCheck.bigInt(1n, 1_000_000n), { nil: undefined }),
        FastCheck.integer({ min: 0, max: 1_000 }),
        (first, second, age) => {
          const asOf = DateTime.makeUnsafe((start - age) * 1000)
          const agreed = agreedPrice(
            {
              first: { name: "a", price: first === undefined ? undefined : { usd: first, asOf } },
              second: { name: "b", usd: second },
              toleranceBps: 200
            },
            start - 500
          )
          if (first === undefined || second === undefined) {
            assert.strictEqual(Result.isFailure(agreed) && agreed.failure.code, "SOURCE_MISSING")
            return
          }
          // Two percent of the lower: fifty-one fiftieths of it.
          const isNear = first * 50n <= second * 51n && second * 50n <= first * 51n
          if (!isNear) assert.strictEqual(Result.isFailure(agreed) && agreed.failure.code, "SOURCES_DISAGREE")
          else assert.deepStrictEqual(agreed, Result.succeed({ price: first, time: start - Math.max(age, 500) }))
        }
      ),
      { numRuns: 2_000 }
    ))
})
