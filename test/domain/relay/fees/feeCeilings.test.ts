import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { feeCeilingOf, feeWithin, mayShareFees } from "#domain/relay/fees/feeCeilings.ts"
import { maxNative } from "#domain/relay/Transaction.ts"
import type { ChainId } from "#domain/values/Caip.ts"

const chainId = 8453 as ChainId
const wei = fc.bigInt({ min: 0n, max: 10n ** 20n })
const fee = fc.bigInt({ min: 0n, max: 10n ** 12n })

const costs = fc.record(
  {
    chainId: fc.constant(chainId),
    gasLimit: fc.bigInt({ min: 21_000n, max: 16_777_216n }),
    maxFeePerGas: fee,
    dataFee: fc.bigInt({ min: 0n, max: 10n ** 16n }),
    feeCeiling: fee,
    costCeiling: wei
  },
  { requiredKeys: ["chainId", "gasLimit", "maxFeePerGas"] }
)
const members = fc.array(costs, { minLength: 1, maxLength: 6 })

/** What a transaction costs at most that includes all of them for this fee. */
const costAt = (
  actions: ReadonlyArray<{ readonly gasLimit: bigint; readonly dataFee?: bigint }>,
  maxFeePerGas: bigint
) => actions.reduce((sum, action) => sum + maxNative({ _tag: "Evm", chainId, ...action, maxFeePerGas }), 0n)

describe("the ceiling of a transaction's fees", () => {
  it("is the highest fee at which gas and data cost no more", () => {
    fc.assert(
      fc.property(costs, wei, (action, native) => {
        const highest = feeWithin(native, action)
        const free = costAt([action], 0n)
        if (free <= native) assert.isTrue(costAt([action], highest) <= native)
        else assert.strictEqual(highest, 0n)
        assert.isTrue(costAt([action], highest + 1n) > native)
      })
    )
  })

  it("lets a shared transaction cost no member more than its own limit, and no more as a whole", () => {
    fc.assert(
      fc.property(members, (actions) => {
        if (!mayShareFees(actions)) return
        const ceiling = feeCeilingOf(actions)
        const isLimited = actions.some(
          ({ costCeiling, feeCeiling }) => costCeiling !== undefined || feeCeiling !== undefined
        )
        assert.strictEqual(ceiling !== null, isLimited)
        if (ceiling === null) return
        for (const { costCeiling, feeCeiling, maxFeePerGas } of actions) {
          assert.isTrue(ceiling >= maxFeePerGas)
          if (feeCeiling !== undefined) assert.isTrue(ceiling <= feeCeiling)
          const isPayable = costCeiling === undefined || costAt(actions, 0n) > costCeiling
          if (!isPayable) assert.isTrue(costAt(actions, ceiling) <= costCeiling)
        }
      }),
      { numRuns: 1_000 }
    )
  })

  it("never falls with another member that has no limit of its own, but for the gas that this adds", () => {
    const limited = { gasLimit: 100n, maxFeePerGas: 10n, feeCeiling: 15n, costCeiling: 2_000n }
    const owners = { gasLimit: 100n, maxFeePerGas: 10n }
    assert.strictEqual(feeCeilingOf([owners]), null)
    assert.strictEqual(feeCeilingOf([limited]), 15n)
    assert.strictEqual(feeCeilingOf([limited, owners]), 10n)
    assert.isTrue(mayShareFees([limited, owners]))
    assert.isFalse(mayShareFees([limited, owners, owners]))
    assert.isFalse(mayShareFees([limited, { ...owners, maxFeePerGas: 16n }]))
  })

  it("is what a transaction offers where that was allowed when it was prepared", () => {
    assert.strictEqual(feeCeilingOf([{ gasLimit: 3n, maxFeePerGas: 10n, costCeiling: 29n }]), 10n)
  })
})
