/** What is encoded and read by words, against viem. */
import * as fc from "fast-check"
import { encodeErrorResult, encodeFunctionData, encodeFunctionResult, getAddress, type Hex } from "viem"
import { assert, describe, it } from "vitest"
import { ChainId, EvmAccountId, EvmAddress } from "#domain/values/Caip.ts"
import { entryPoint, entryPointAbi, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import { combined } from "#layers/evm/execution/bundleOperations.ts"
import { resultsOfReverted, revertedCalls } from "#layers/evm/execution/batchedSimulations.ts"
import { decodeResults, encodeCalls } from "#layers/evm/rpc/aggregate.ts"

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`
const bytes = (minLength: number, maxLength = minLength) => fc.uint8Array({ minLength, maxLength }).map(hexOf)
const address = bytes(20).map((hex) => getAddress(hex))
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

const calls = fc.array(fc.record({ target: address, data: bytes(0, 200) }), { maxLength: 12 })
const results = fc.array(fc.record({ success: fc.boolean(), data: bytes(0, 200) }), { maxLength: 12 })

const calldata = (of: ReadonlyArray<{ readonly target: Hex; readonly data: Hex }>) =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [of.map(({ data, target }) => ({ target, allowFailure: true, callData: data }))]
  })

const answer = (of: ReadonlyArray<{ readonly success: boolean; readonly data: Hex }>) =>
  encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: of.map(({ data, success }) => ({ success, returnData: data }))
  })

const reverted = (data: Hex, success = true) =>
  encodeErrorResult({ abi: entryPointAbi, errorName: "DelegateAndRevert", args: [success, data] })

describe("many calls in one", () => {
  it("are encoded as viem does", () => {
    fc.assert(fc.property(calls, (many) => assert.strictEqual(encodeCalls(many), calldata(many))))
  })

  it("are encoded as viem does where they are to be reverted", () => {
    fc.assert(
      fc.property(calls, (many) => {
        const args = [multicall3, calldata(many)] as const
        const data = encodeFunctionData({ abi: entryPointAbi, functionName: "delegateAndRevert", args })
        assert.deepStrictEqual(revertedCalls(many), { target: entryPoint, data: data.toLowerCase() as Hex })
      })
    )
  })

  it("answer what viem would read", () => {
    fc.assert(
      fc.property(results, fc.boolean(), (many, success) => {
        assert.deepStrictEqual(decodeResults(answer(many)), many)
        assert.deepStrictEqual(resultsOfReverted({ success: false, data: reverted(answer(many), success) }), many)
      })
    )
  })

  it("answer nothing where the answer was cut off, or another word stands in it", () => {
    const some = fc.record({
      many: fc.array(fc.record({ success: fc.boolean(), data: bytes(1, 100) }), { minLength: 1 })
    })
    fc.assert(
      fc.property(some, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), ({ many }, part) => {
        const whole = answer(many)
        const words = (whole.length - 2) / 64
        const cut: Hex = `0x${whole.slice(2, 2 + 64 * Math.floor(part * words))}`
        assert.throws(() => decodeResults(cut), /The data has no|larger than the data/u)
        assert.isUndefined(resultsOfReverted({ success: false, data: reverted(cut) }))
      })
    )
    const far: Hex = `0x${"f".repeat(64)}${answer([]).slice(66)}`
    assert.throws(() => decodeResults(far), /larger than the data/u)
  })

  it("answer nothing where the frame came to another end", () => {
    for (const data of [
      "0x",
      "0x08c379a0",
      encodeErrorResult({ abi: entryPointAbi, errorName: "FailedOp", args: [0n, "AA24"] })
    ] as const)
      assert.isUndefined(resultsOfReverted({ success: false, data }))
  })
})

describe("user operations in one transaction", () => {
  const operation = fc.record({
    sender: address,
    nonce: uint256,
    initCode: bytes(0, 100),
    callData: bytes(0, 300),
    accountGasLimits: bytes(32),
    preVerificationGas: uint256,
    gasFees: bytes(32),
    paymasterAndData: bytes(0, 70),
    signature: bytes(0, 100)
  })
  type Operation = typeof operation extends fc.Arbitrary<infer A> ? A : never

  const handleOps = (operations: ReadonlyArray<Operation>, beneficiary: Hex) =>
    encodeFunctionData({ abi: entryPointAbi, functionName: "handleOps", args: [operations, beneficiary] }).toLowerCase()

  const prepared = (callData: string) => ({
    _tag: "Evm" as const,
    chainId: ChainId.make(8453),
    accountId: EvmAccountId.make(`eip155:8453:${multicall3}`),
    actionHash: "0x",
    to: EvmAddress.make(entryPoint),
    callData,
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    chainNonce: 0,
    laneNonces: [],
    fromBlock: 1n
  })

  it("are encoded as viem does, whatever is in them", () => {
    fc.assert(
      fc.property(fc.array(operation, { minLength: 2, maxLength: 9 }), address, (operations, beneficiary) => {
        const [first, ...others] = operations.map((one) => prepared(handleOps([one], beneficiary)))
        assert.strictEqual(combined([first!, ...others]).callData, handleOps(operations, beneficiary))
      })
    )
  })
})
