import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type ChainId, evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import { bundlesOf } from "#domain/relay/bundlesOf.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"

const chainId = 8453 as ChainId
const addressOf = (n: number) => `0x${String(n).padStart(40, "0")}` as EvmAddress

interface Wanted {
  readonly sender: number
  readonly gas: number
  readonly cap: number | null
  readonly bytes: number
}

const operation = ({ bytes, cap, gas, sender }: Wanted): PreparedTransaction => ({
  _tag: "Evm",
  chainId,
  accountId: evmAccount(chainId, addressOf(sender)),
  actionHash: `0x${"ab".repeat(32)}`,
  to: addressOf(1),
  callData: `0x${"00".repeat(bytes)}`,
  gasLimit: BigInt(gas),
  ...(cap === null ? {} : { bundleGas: BigInt(cap) }),
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  chainNonce: 0,
  laneNonces: [],
  fromBlock: 1n
})

const bundles = (wanted: ReadonlyArray<Wanted>) => bundlesOf(wanted, operation)
const one = { sender: 1, gas: 4, cap: 10, bytes: 1 }

describe("bundlesOf", () => {
  it("fills a transaction up to what its members may use together, then begins another", () => {
    const wanted = [1, 2, 3, 4, 5].map((sender) => ({ ...one, sender }))
    assert.deepStrictEqual(
      bundles(wanted).map((bundle) => bundle.map(({ sender }) => sender)),
      [[1, 2], [3, 4], [5]]
    )
  })

  it("takes an account once, and its second operation into the next", () => {
    const [first, other, second] = [{ ...one }, { ...one, sender: 2 }, { ...one }] as const
    assert.deepStrictEqual(bundles([first, other, second]), [[first, other], [second]])
  })

  it("leaves alone what may not share a transaction, and what is too large for any", () => {
    const alone = { ...one, sender: 2, cap: null }
    const large = { ...one, sender: 3, gas: 11 }
    const other = { ...one, sender: 4 }
    assert.deepStrictEqual(bundles([alone, one, large, other]), [[alone], [one, other], [large]])
  })

  it("keeps the chains apart", () => {
    const [here, there] = [
      operation({ ...one, sender: 1 }),
      { ...operation({ ...one, sender: 2 }), chainId: 10 as ChainId }
    ]
    assert.deepStrictEqual(
      bundlesOf([here, there], (transaction) => transaction),
      [[here], [there]]
    )
  })

  it("keeps within the size that nodes take", () => {
    const wanted = [1, 2, 3].map((sender) => ({ ...one, sender, gas: 1, bytes: 40_000 }))
    assert.deepStrictEqual(
      bundles(wanted).map((bundle) => bundle.length),
      [2, 1]
    )
  })

  it("loses nothing, keeps the order, and never exceeds what any member allows", () => {
    const item = fc.record({
      sender: fc.integer({ min: 1, max: 6 }),
      gas: fc.integer({ min: 1, max: 20 }),
      cap: fc.option(fc.integer({ min: 0, max: 40 })),
      bytes: fc.integer({ min: 0, max: 60_000 })
    })
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), (wanted) => {
        const made = bundles(wanted)
        const places = made.map((bundle) => bundle.map((each) => wanted.indexOf(each)))
        assert.sameMembers(
          places.flat(),
          wanted.map((_, index) => index)
        )
        for (const place of [...places, places.map(([first]) => first!)])
          assert.deepStrictEqual(
            place,
            [...place].sort((a, b) => a - b)
          )
        for (const bundle of made.filter(({ length }) => length > 1)) {
          const gas = bundle.reduce((sum, each) => sum + each.gas, 0)
          assert.isTrue(bundle.every(({ cap }) => cap !== null && gas <= cap))
          assert.strictEqual(new Set(bundle.map(({ sender }) => sender)).size, bundle.length)
          assert.isAtMost(
            bundle.reduce((sum, { bytes }) => sum + bytes, 0),
            96 * 1024
          )
        }
      })
    )
  })
})
