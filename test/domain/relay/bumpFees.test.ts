import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { bumpFees } from "#domain/relay/bumpFees.ts"

const gwei = 1_000_000_000n
const fee = fc.bigInt({ min: 0n, max: 2_000n * gwei })
const offer = fc.record({ maxFeePerGas: fee, maxPriorityFeePerGas: fee })

describe("bumpFees", () => {
  it("offers an eighth more in both fields, rounded up", () => {
    const offered = { maxFeePerGas: 1_001n, maxPriorityFeePerGas: 8n }
    const asked = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    assert.deepStrictEqual(bumpFees(offered, asked, gwei), { maxFeePerGas: 1_127n, maxPriorityFeePerGas: 9n })
  })

  it("offers what the chain asks now when that is more", () => {
    const offered = { maxFeePerGas: 100n, maxPriorityFeePerGas: 1n }
    const asked = { maxFeePerGas: 900n, maxPriorityFeePerGas: 50n }
    assert.deepStrictEqual(bumpFees(offered, asked, gwei), asked)
    assert.deepStrictEqual(bumpFees(offered, asked, 800n), { maxFeePerGas: 800n, maxPriorityFeePerGas: 50n })
  })

  it("has nothing to offer when the ceiling does not allow an eighth more", () => {
    const offered = { maxFeePerGas: 800n, maxPriorityFeePerGas: 1n }
    const asked = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    assert.isNull(bumpFees(offered, asked, 899n))
    assert.isNotNull(bumpFees(offered, asked, 900n))
  })

  it("is always taken by a node, never above the ceiling, and always a valid transaction", () => {
    fc.assert(
      fc.property(offer, offer, fee, (offered, asked, ceiling) => {
        const fees = bumpFees(offered, asked, ceiling)
        if (fees === null) return
        for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
          assert.isTrue(fees[field] * 1_000n >= offered[field] * 1_125n)
          assert.isTrue(fees[field] > offered[field])
        }
        assert.isTrue(fees.maxFeePerGas <= ceiling)
        assert.isTrue(fees.maxPriorityFeePerGas <= fees.maxFeePerGas)
      })
    )
  })
})
