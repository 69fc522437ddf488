import { assert, describe, it } from "@effect/vitest"
import { decodeFunctionData, encodeFunctionData, type Hex, keccak256, stringToHex, zeroAddress } from "viem"
import type { ChainId, EvmAccountId, EvmAddress } from "#domain/values/Caip.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { combined } from "#layers/evm/execution/bundleOperations.ts"

const beneficiary = "0x52908400098527886E0F7030069857D2E4169EE7"

const operation = (nonce: bigint) => ({
  sender: zeroAddress,
  nonce,
  initCode: "0x" as const,
  callData: `0x${"ab".repeat(Number(nonce) * 7)}` as Hex,
  accountGasLimits: keccak256(stringToHex(`limits ${nonce}`)),
  preVerificationGas: nonce * 2n,
  gasFees: keccak256(stringToHex(`fees ${nonce}`)),
  paymasterAndData: "0x" as const,
  signature: keccak256(stringToHex(`signature ${nonce}`))
})

const prepared = (nonce: bigint): PreparedTransaction => ({
  _tag: "Evm",
  chainId: 8453 as ChainId,
  accountId: `eip155:8453:${zeroAddress}` as EvmAccountId,
  actionHash: `${nonce}`,
  to: entryPoint as string as EvmAddress,
  callData: encodeFunctionData({
    abi: entryPointAbi,
    functionName: "handleOps",
    args: [[operation(nonce)], beneficiary]
  }).toLowerCase(),
  gasLimit: 100n * nonce,
  maxFeePerGas: 10n - nonce,
  maxPriorityFeePerGas: nonce,
  chainNonce: 0,
  laneNonces: [],
  fromBlock: 50n - nonce
})

describe("Operations in one transaction", () => {
  it("are the same operations in their order, for the beneficiary of the first", () => {
    const one = combined([prepared(1n), prepared(2n), prepared(3n)])
    assert.deepStrictEqual(decodeFunctionData({ abi: entryPointAbi, data: one.callData as Hex }), {
      functionName: "handleOps",
      args: [[operation(1n), operation(2n), operation(3n)], beneficiary]
    })
    assert.deepInclude(one, { gasLimit: 600n, maxFeePerGas: 9n, maxPriorityFeePerGas: 3n, fromBlock: 47n })
    assert.deepStrictEqual(combined([prepared(1n)]), prepared(1n))
  })

  it("are user operations alone: anything else is refused", () => {
    const other = encodeFunctionData({ abi: entryPointAbi, functionName: "depositTo", args: [zeroAddress] })
    assert.throws(
      () => combined([prepared(1n), { ...prepared(2n), callData: other }]),
      `Only user operations share a transaction, not ${other.slice(0, 10)}`
    )
  })
})
