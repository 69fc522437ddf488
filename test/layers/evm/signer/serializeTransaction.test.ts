/** Transactions as the relayer signs and sends them, against viem. */
import * as fc from "fast-check"
import { getAddress, type Hex, parseSignature, serializeTransaction, type TransactionSerializableEIP1559 } from "viem"
import { assert, describe, it } from "vitest"
import { serializeSigned, serializeUnsigned } from "#layers/evm/signer/serializeTransaction.ts"

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`
const bytes = (minLength: number, maxLength = minLength) => fc.uint8Array({ minLength, maxLength }).map(hexOf)
const upTo = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })

/** Bytes of the lengths from which RLP needs two and three bytes for them. */
const long = fc.constantFrom(255, 256, 65_535, 65_536).map((length): Hex => `0x${"c7".repeat(length)}`)

const transactions = fc
  .record({
    chainId: fc.integer({ min: 1, max: 2 ** 31 }),
    nonce: fc.nat(),
    to: bytes(20).map((hex) => getAddress(hex)),
    data: fc.oneof(bytes(0, 70), bytes(200, 300), long),
    gas: upTo(40),
    fees: fc.tuple(upTo(60), upTo(60)),
    value: fc.option(upTo(90), { nil: undefined })
  })
  .map(({ fees: [a, b], value, ...rest }): TransactionSerializableEIP1559 => {
    const [maxPriorityFeePerGas, maxFeePerGas] = a < b ? [a, b] : [b, a]
    return { type: "eip1559", ...rest, maxFeePerGas, maxPriorityFeePerGas, ...(value === undefined ? {} : { value }) }
  })

/** r and s may begin with zeros, which RLP leaves out. */
const scalar = fc.bigInt({ min: 1n, max: 2n ** 255n - 1n })
const signatures = fc
  .tuple(
    fc.oneof(scalar, fc.constant(1n)),
    fc.oneof(scalar, fc.constant(255n)),
    fc.constantFrom("1b", "1c", "00", "01")
  )
  .map(([r, s, v]): Hex => `0x${r.toString(16).padStart(64, "0")}${s.toString(16).padStart(64, "0")}${v}`)

describe("a transaction", () => {
  it("is written for its signature as viem does", () => {
    fc.assert(fc.property(transactions, (one) => assert.strictEqual(serializeUnsigned(one), serializeTransaction(one))))
  })

  it("is written with its signature as viem does", () => {
    fc.assert(
      fc.property(transactions, signatures, (one, signature) =>
        assert.strictEqual(serializeSigned(one, signature), serializeTransaction(one, parseSignature(signature)))
      )
    )
  })

  it("with half a byte of calldata, or with an access list, is not written", () => {
    const one = { type: "eip1559", chainId: 1, nonce: 0, gas: 1n, maxFeePerGas: 1n } as const
    assert.throws(() => serializeUnsigned({ ...one, data: "0x0" }), "Expected whole bytes in hex")
    const accessList = [{ address: getAddress(`0x${"11".repeat(20)}`), storageKeys: [] }]
    assert.throws(() => serializeUnsigned({ ...one, accessList }), "The relayer signs no access lists")
  })

  it("with a tip above its fee cap, or to what is no address, is not written", () => {
    const one = { type: "eip1559", chainId: 1, nonce: 0, gas: 1n, maxFeePerGas: 1n } as const
    assert.throws(() => serializeUnsigned({ ...one, maxPriorityFeePerGas: 2n }), "cannot be higher")
    assert.throws(() => serializeUnsigned({ ...one, to: "0x01" }), "is invalid")
  })
})
