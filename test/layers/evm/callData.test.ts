import { assert, describe, it } from "@effect/vitest"
import { encodeFunctionData, erc20Abi, parseAbi, zeroAddress } from "viem"
import { callDataOf } from "#layers/evm/callData.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"

describe("the calldata of a function", () => {
  it("is that of viem, for one call after the other", () => {
    const approve = callDataOf(erc20Abi, "approve")
    for (const amount of [0n, 1n, 2n ** 256n - 1n]) {
      const args = [zeroAddress, amount] as const
      assert.strictEqual(approve(...args), encodeFunctionData({ abi: erc20Abi, functionName: "approve", args }))
    }
    const calls = [{ target: multicall3, allowFailure: true, callData: "0x1234" }] as const
    assert.strictEqual(
      callDataOf(multicall3Abi, "aggregate3")(calls),
      encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] })
    )
    assert.strictEqual(
      callDataOf(multicall3Abi, "getBlockNumber")(),
      encodeFunctionData({ abi: multicall3Abi, functionName: "getBlockNumber" })
    )
  })

  it("is none of a function that the ABI has several times, or not at all", () => {
    const overloaded = parseAbi(["function send(address to)", "function send(address to, uint256 amount)"])
    assert.throws(() => callDataOf(overloaded, "send"), "send stands 2 times")
    assert.throws(() => callDataOf(overloaded, "give" as "send"), "give stands 0 times")
  })
})
