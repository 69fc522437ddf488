import { assert, describe, it } from "vitest"
import { encodeFunctionData, type Hex, serializeTransaction, zeroAddress } from "viem"
import { evmAccount, type ChainId, type EvmAddress } from "#domain/values/Caip.ts"
import { operationNonceIn, operationNonceReader } from "#layers/evm/account/operationNonce.ts"
import { entryPoint, entryPointAbi, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"

const base = 8453 as ChainId
const senders = ["0x1111111111111111111111111111111111111111", "0x00000000219ab540356cBB839Cbe05303d7705Fa"] as const
const [first, second] = senders.map((sender) => evmAccount(base, sender as string as EvmAddress))
const stranger = evmAccount(base, "0x2222222222222222222222222222222222222222" as string as EvmAddress)

const operation = (sender: Hex, nonce: bigint) => ({
  sender,
  nonce,
  initCode: "0x" as const,
  callData: "0x" as const,
  accountGasLimits: `0x${"00".repeat(32)}` as const,
  preVerificationGas: 0n,
  gasFees: `0x${"00".repeat(32)}` as const,
  paymasterAndData: "0x" as const,
  signature: "0x" as const
})
const handleOps = (...operations: ReadonlyArray<ReturnType<typeof operation>>) =>
  encodeFunctionData({ abi: entryPointAbi, functionName: "handleOps", args: [[...operations], zeroAddress] })
const signed = (to: Hex, data: Hex) =>
  serializeTransaction(
    { to, data, chainId: base, type: "eip1559" },
    { r: `0x${"11".repeat(32)}`, s: `0x${"22".repeat(32)}`, yParity: 0 }
  )
const multicall = (...calls: ReadonlyArray<Hex>) =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls.map((callData) => ({ target: entryPoint, allowFailure: false, callData }))]
  })

describe("the nonce of an account's operation in a transaction", () => {
  const bundle = signed(entryPoint, handleOps(operation(senders[0], 7n), operation(senders[1], 9n)))
  const several = signed(
    multicall3,
    multicall(handleOps(operation(senders[0], 3n)), handleOps(operation(senders[1], 4n), operation(senders[0], 5n)))
  )
  const elsewhere = signed(zeroAddress, handleOps(operation(senders[0], 1n)))
  type Case = readonly [
    string,
    Parameters<typeof operationNonceIn>[0],
    readonly [bigint | undefined, bigint | undefined]
  ]
  const cases: ReadonlyArray<Case> = [
    ["a bundle", { raw: bundle }, [7n, 9n]],
    ["several bundles, of which the first operation counts", { raw: several }, [3n, 4n]],
    ["the transaction that it cancels", { raw: elsewhere, cancels: bundle }, [7n, 9n]],
    ["a call of another contract", { raw: elsewhere }, [undefined, undefined]],
    ["no transaction", { raw: "0x02" }, [undefined, undefined]]
  ]

  it.each(cases)("is that of the account, in %s", (_, transaction, [ofFirst, ofSecond]) => {
    const read = operationNonceReader()
    for (const nonceIn of [operationNonceIn, read, read]) {
      assert.strictEqual(nonceIn(transaction, first!), ofFirst)
      assert.strictEqual(nonceIn(transaction, second!), ofSecond)
      assert.isUndefined(nonceIn(transaction, stranger))
    }
  })
})
