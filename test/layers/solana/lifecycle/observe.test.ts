import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import fc from "fast-check"
import { unitLimitFor, unitPriceFor } from "#layers/solana/lifecycle/priorityFee.ts"
import { conclude, type Observation } from "#layers/solana/lifecycle/observe.ts"

const asked = { commitment: "confirmed", endpoints: 2, lastValidBlockHeight: 150n } as const
const sees = (
  height: bigint,
  status: Partial<{ error: unknown; slot: bigint; commitment: "processed" | "confirmed" | "finalized" }> | null,
  statusSlot = height
): Observation => ({
  finalized: { slot: height, height },
  status:
    status === null ? Option.none() : Option.some({ slot: 100n, error: null, commitment: "confirmed", ...status }),
  statusSlot
})

describe("what several endpoints conclude", () => {
  it("a status at the wanted commitment is an outcome, and what is merely processed is none", () => {
    assert.deepStrictEqual(conclude([sees(90n, {}), sees(90n, null)], asked), { _tag: "Landed", slot: 100n })
    assert.deepStrictEqual(conclude([sees(90n, { error: "x" })], asked), { _tag: "Failed", slot: 100n, error: "x" })
    assert.deepStrictEqual(conclude([sees(90n, { commitment: "processed" })], asked), { _tag: "Pending" })
    const final = { ...asked, commitment: "finalized" } as const
    assert.deepStrictEqual(conclude([sees(90n, {})], final), { _tag: "Pending" })
    assert.deepStrictEqual(conclude([sees(90n, { commitment: "finalized" })], final), { _tag: "Landed", slot: 100n })
  })

  it("is expired only above the last valid height, and by two endpoints where there are two", () => {
    assert.deepStrictEqual(conclude([sees(151n, null), sees(151n, null)], asked), { _tag: "Expired" })
    assert.deepStrictEqual(conclude([sees(150n, null), sees(150n, null)], asked), { _tag: "Pending" })
    assert.deepStrictEqual(conclude([sees(151n, null), sees(150n, null)], asked), { _tag: "Pending" })
    assert.deepStrictEqual(conclude([sees(151n, null)], asked), { _tag: "Pending" })
    assert.deepStrictEqual(conclude([sees(151n, null)], { ...asked, endpoints: 1 }), { _tag: "Expired" })
    assert.deepStrictEqual(conclude([], { ...asked, endpoints: 0 }), { _tag: "Pending" })
  })

  it("a status that was read at a node behind the height is no proof that there is none", () => {
    assert.deepStrictEqual(conclude([sees(151n, null, 140n), sees(151n, null)], asked), { _tag: "Pending" })
  })

  it("a node that has forgotten the blocks of then has no say", () => {
    const forgot = (firstSlot: bigint) => ({ ...sees(400n, null), firstSlot })
    // 400 blocks later, of which each may have taken two slots: nothing before slot 0 is certain.
    const alone = { ...asked, endpoints: 1 }
    assert.deepStrictEqual(conclude([forgot(0n)], alone), { _tag: "Expired" })
    assert.deepStrictEqual(conclude([forgot(1n)], alone), { _tag: "Pending" })
    assert.deepStrictEqual(conclude([forgot(1n), forgot(0n)], asked), { _tag: "Pending" })
    const three = { ...asked, endpoints: 3 }
    assert.deepStrictEqual(conclude([forgot(1n), forgot(0n), forgot(0n)], three), { _tag: "Expired" })
    const soon = { ...sees(170n, null), finalized: { slot: 10_170n, height: 170n }, statusSlot: 10_170n }
    assert.deepStrictEqual(conclude([{ ...soon, firstSlot: 9_830n }], alone), { _tag: "Expired" })
    assert.deepStrictEqual(conclude([{ ...soon, firstSlot: 9_831n }], alone), { _tag: "Pending" })
  })

  it("endpoints that cannot both be right conclude nothing", () => {
    assert.strictEqual(conclude([sees(90n, {}), sees(90n, { error: "x" })], asked), "contradiction")
    assert.strictEqual(conclude([sees(90n, {}), sees(100n, null)], asked), "contradiction")
    assert.deepStrictEqual(conclude([sees(90n, {}), sees(100n, null, 95n)], asked), { _tag: "Landed", slot: 100n })
  })

  it("never says expired while any endpoint shows a status or a height that still allows it", () => {
    const observation = fc
      .record({
        height: fc.bigInt({ min: 100n, max: 200n }),
        lag: fc.bigInt({ min: 0n, max: 50n }),
        seen: fc.boolean()
      })
      .map(({ height, lag, seen }) => sees(height, seen ? {} : null, height - lag))
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 4 }), fc.integer({ min: 0, max: 4 }), (all, endpoints) => {
        const outcome = conclude(all, { ...asked, endpoints })
        if (outcome === "contradiction" || outcome._tag !== "Expired") return
        assert.isTrue(all.every(({ status }) => Option.isNone(status)))
        assert.isTrue(all.every(({ finalized, statusSlot }) => finalized.height > 150n && statusSlot >= finalized.slot))
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("priority fees", () => {
  it("are the percentile of recent ones, and never above the cap for the whole transaction", () => {
    const prices = [5n, 1n, 4n, 2n, 3n]
    const of = (percentile: number, maxPriorityLamports: bigint) =>
      unitPriceFor(prices, 100_000, { percentile, maxPriorityLamports })
    assert.deepStrictEqual([of(0, 10n), of(50, 10n), of(75, 10n), of(100, 10n)], [1n, 3n, 4n, 5n])
    assert.strictEqual(unitPriceFor([], 100_000, { percentile: 75, maxPriorityLamports: 10n }), 0n)
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 0n, max: 2n ** 63n }), { maxLength: 150 }),
        fc.integer({ min: 0, max: 1_400_000 }),
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        (recent, used, maxPriorityLamports) => {
          const units = unitLimitFor(used)
          const price = unitPriceFor(recent, units, { percentile: 75, maxPriorityLamports })
          assert.isTrue((price * BigInt(units)) / 1_000_000n <= maxPriorityLamports)
          assert.isTrue(units >= used && units <= 1_400_000)
        }
      )
    )
  })
})
