/** Why calls reverted, as people read it: no selector that stands for a name, whatever contract wrote the data. */
import { assert, describe, it } from "@effect/vitest"
import { type Abi, concatHex, encodeAbiParameters, encodeErrorResult, type Hex, parseAbi, stringToHex } from "viem"
import { entryPointAbi, kernelAbi } from "#layers/evm/contracts.ts"
import { refusedSimulation, revertReason } from "#layers/evm/revert/revertReason.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

const token = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const chainId = 8453 as ChainId

const encoded = (signature: string, args: ReadonlyArray<unknown> = []): Hex => {
  const abi: Abi = parseAbi([`error ${signature}`] as ReadonlyArray<string>)
  const [item] = abi
  assert.isTrue(item?.type === "error")
  return encodeErrorResult({ abi, errorName: item?.type === "error" ? item.name : "", args })
}

describe("the reason of a revert", () => {
  it("is the text of tokens and pools that revert with one", () => {
    for (const text of [
      "ERC20: transfer amount exceeds balance",
      "UniswapV2: K",
      "UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT",
      "STF",
      "Blacklistable: account is blacklisted"
    ])
      assert.strictEqual(revertReason(encoded("Error(string reason)", [text])), text)
    assert.strictEqual(revertReason(stringToHex("Dai/insufficient-balance", { size: 32 })), "Dai/insufficient-balance")
  })

  it("names custom errors with what they say", () => {
    for (const [signature, args, reason] of [
      ["ERC20InsufficientBalance(address a, uint256 b, uint256 c)", [token, 1n, 2n], `(${token}, 1, 2)`],
      ["SafeERC20FailedOperation(address a)", [token], `(${token})`],
      ["EnforcedPause()", [], "()"],
      ["V2TooLittleReceived()", [], "()"],
      ["V3TooLittleReceived()", [], "()"],
      ["AllowanceExpired(uint256 a)", [7n], "(7)"],
      ["CumulativeSlippageTooHigh(uint256 a, uint256 b)", [5n, 4n], "(5, 4)"],
      ["UnfairTrade(uint256 a, uint256 b, uint256 c)", [3n, 2n, 1n], "(3, 2, 1)"],
      ["OnlyGuard(address a)", [token], `(${token})`],
      ["InvalidNonce()", [], "()"]
    ] as const)
      assert.strictEqual(revertReason(encoded(signature, args)), `${signature.split("(")[0]}${reason}`)
    for (const item of [...tradeGuardAbi, ...kernelAbi, ...entryPointAbi])
      if (item.type === "error" && item.inputs.length === 0)
        assert.strictEqual(revertReason(encodeErrorResult({ abi: [item] })), `${item.name}()`)
  })

  it("says which function is not allowed, and what an error within an error says", () => {
    const refused = encoded("CallNotAllowed(address a, bytes4 b)", [token, "0xa9059cbb"])
    assert.strictEqual(revertReason(refused), `CallNotAllowed(${token}, transfer)`)
    const failed = encodeErrorResult({
      abi: entryPointAbi,
      errorName: "FailedOpWithRevert",
      args: [0n, "AA23 reverted", refused]
    })
    assert.strictEqual(revertReason(failed), `AA23 reverted: CallNotAllowed(${token}, transfer)`)
    const within = encoded("ExecutionFailed(uint256 a, bytes b)", [3n, encoded("V3TooLittleReceived()")])
    assert.strictEqual(revertReason(within), "ExecutionFailed(3, V3TooLittleReceived())")
  })

  it("says what Solidity panics for", () => {
    assert.strictEqual(revertReason(encoded("Panic(uint256 code)", [0x11n])), "Panic: a number is out of range")
    assert.strictEqual(revertReason(encoded("Panic(uint256 code)", [0x99n])), "Panic: code 153")
  })

  it("of a stale feed and of a sequencer that is down are faults of the chain's prices", () => {
    const stale = revertReason(encoded("StalePrice(address a, uint256 b)", [token, 1_700_000_000n]))
    assert.include(stale, `StalePrice(${token})`)
    assert.include(stale, "2023-11-14T22:13:20.000Z")
    assert.strictEqual(refusedSimulation(chainId, stale).marketFault, "feed_stale")
    const down = revertReason(encoded("SequencerDown(int256 a, uint256 b)", [1n, 1_700_000_000n]))
    assert.include(down, "sequencer is down")
    assert.strictEqual(refusedSimulation(chainId, down).marketFault, "sequencer_down")
    const up = revertReason(encoded("SequencerDown(int256 a, uint256 b)", [0n, 1_700_000_000n]))
    assert.include(up, "up again since 2023-11-14T22:13:20.000Z")
    assert.strictEqual(refusedSimulation(chainId, up).marketFault, "sequencer_down")
    assert.isUndefined(refusedSimulation(chainId, "UniswapV2: K").marketFault)
  })

  it("is words where nobody knows the error, and never longer than it may be", () => {
    const unknown = concatHex(["0x12345678", encodeAbiParameters([{ type: "uint256" }], [1n])])
    assert.match(revertReason(unknown), /^reverted with an error of a contract that this service does not know/u)
    assert.strictEqual(revertReason("0x"), "reverted without a reason")
    assert.match(revertReason("0x01"), /^reverted with 0x01/u)
    assert.lengthOf(revertReason(encoded("Error(string reason)", ["x".repeat(5_000)])), 300)
    assert.isAtMost(revertReason(encoded("AllowanceExpired(uint256 a)", [2n ** 256n - 1n])).length, 300)
  })

  it("of a time that no calendar has is the number", () => {
    assert.include(
      revertReason(encoded("StalePrice(address a, uint256 b)", [token, 2n ** 256n - 1n])),
      String(2n ** 256n - 1n)
    )
  })
})
