/** A swap's route is taken only when it is exactly what was asked for: one test for each way in which it may not be. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { concatHex, encodeFunctionData, erc20Abi, toFunctionSelector, zeroHash } from "viem"
import { addressOf, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { toViem } from "#layers/evm/address.ts"
import { checkSwap, lifiDiamondAbi } from "#layers/routing/lifi/checkSwap.ts"
import type { LifiStep } from "#layers/routing/lifi/wire.ts"
import { arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { stepVariations } from "#test/layers/routing/stepVariations.ts"

const account = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const thief = "0xde709f2102306220921060314715629080e2fb77" as EvmAddress
const target = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress
const pool = toViem(addressOf(baseBtc.assetId))
const [usdc, btc, weth] = [baseUsdc, baseBtc, baseWeth].map(({ assetId }) => toViem(addressOf(assetId)))

const expected = { sell: baseUsdc.assetId, buy: baseWeth.assetId, amountRaw: 1_000_000n, account, target }

const hop = (change: object = {}) => ({
  callTo: pool,
  approveTo: pool,
  sendingAssetId: usdc!,
  receivingAssetId: weth!,
  fromAmount: 1_000_000n,
  callData: "0x1234" as const,
  requiresDeposit: true,
  ...change
})

const head = (receiver = account, least = 395_000n) => [zeroHash, "ballast", "", toViem(receiver), least] as const

const single = (change: object = {}, ...asked: Parameters<typeof head>) =>
  encodeFunctionData({
    abi: lifiDiamondAbi,
    functionName: "swapTokensSingleV3ERC20ToERC20",
    args: [...head(...asked), hop(change)]
  })

const multiple = (...changes: ReadonlyArray<object>) =>
  encodeFunctionData({
    abi: lifiDiamondAbi,
    functionName: "swapTokensMultipleV3ERC20ToERC20",
    args: [...head(), changes.map(hop)]
  })

const honest: LifiStep = {
  type: "lifi",
  tool: "pools",
  action: {
    fromChainId: 8453,
    toChainId: 8453,
    fromToken: { chainId: 8453, address: usdc! },
    toToken: { chainId: 8453, address: weth!.toLowerCase() },
    fromAmount: "1000000",
    fromAddress: account,
    toAddress: account
  },
  estimate: {
    fromAmount: "1000000",
    toAmount: "400000",
    toAmountMin: "395000",
    approvalAddress: target,
    executionDuration: 0,
    feeCosts: [{ included: true }],
    gasCosts: [{ amountUSD: "0.002" }, { amountUSD: "0.01" }]
  },
  transactionRequest: { from: account, to: target, chainId: 8453, data: single(), value: "0x0" }
}

const { action, estimate, transaction } = stepVariations(honest)
const data = (call: string) => transaction({ data: call })

const overBtc = [{ receivingAssetId: btc }, { sendingAssetId: btc, fromAmount: 7n, requiresDeposit: false }] as const

const lies: ReadonlyArray<readonly [what: string, step: LifiStep]> = [
  ["another chain", action({ fromChainId: 1 })],
  ["another destination chain", action({ toChainId: 42161 })],
  ["another token to sell", action({ fromToken: { chainId: 8453, address: btc! } })],
  ["another token to buy", action({ toToken: { chainId: 8453, address: btc! } })],
  ["another sender", action({ fromAddress: thief })],
  ["another recipient", action({ toAddress: thief })],
  ["another amount", action({ fromAmount: "1000001" })],
  ["another estimated amount", estimate({ fromAmount: "999999" })],
  ["an allowance for somebody else", estimate({ approvalAddress: thief })],
  ["less expected than the least", estimate({ toAmount: "394999" })],
  ["a fee on top of the amount", estimate({ feeCosts: [{ included: true }, { included: false }] })],
  ["gas without a price", estimate({ gasCosts: [{}] })],
  ["gas that earns money", estimate({ gasCosts: [{ amountUSD: "-1" }] })],
  ["gas that is no number", estimate({ gasCosts: [{ amountUSD: "NaN" }] })],
  ["a call of another contract", transaction({ to: thief })],
  ["a transaction of another account", transaction({ from: thief })],
  ["a transaction on another chain", transaction({ chainId: 1 })],
  ["native value", transaction({ value: "0x1" })],
  ["no function at all", data("0x")],
  [
    "another function",
    data(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [toViem(thief), 1_000_000n] }))
  ],
  ["another function with the same arguments", data(concatHex(["0x12345678", `0x${single().slice(10)}`]))],
  ["a receiver that is somebody else", data(single({}, thief))],
  ["a lower minimum amount than its estimate", data(single({}, account, 394_999n))],
  ["a call that takes another token", data(single({ sendingAssetId: btc }))],
  ["a call that takes more", data(single({ fromAmount: 1_000_001n }))],
  ["a call that takes nothing", data(single({ requiresDeposit: false }))],
  ["a call that buys another token", data(single({ receivingAssetId: btc }))],
  ["a call that ends in another token", data(multiple(...overBtc, { sendingAssetId: weth, receivingAssetId: btc }))],
  ["a call that takes the amount twice", data(multiple(...overBtc, { requiresDeposit: true }))],
  ["a call that takes a second token", data(multiple(overBtc[0], { ...overBtc[1], requiresDeposit: true }))],
  ["a call that starts with another token", data(multiple({ ...overBtc[1], receivingAssetId: weth }, {}))],
  ["a call that swaps nothing", data(multiple())],
  ["a call with something behind it", data(concatHex([single(), "0x00"]))],
  ["a call that is too long", data(single({ callData: `0x${"00".repeat(20_001)}` }))]
]

describe("checkSwap", () => {
  it("takes a step that is what was asked for, with the costs of its gas", () => {
    const call = {
      tool: "pools",
      expectedRaw: 400_000n,
      minRaw: 395_000n,
      gasUsd: (12n * Decimal.one) / 1_000n,
      data: single()
    }
    assert.deepStrictEqual(checkSwap(expected, honest), Result.succeed(call))
    assert.isTrue(Result.isSuccess(checkSwap(expected, data(multiple(...overBtc)))))
    assert.isTrue(
      Result.isSuccess(checkSwap(expected, data(multiple({ fromAmount: 400_000n }, { fromAmount: 600_000n }))))
    )
  })

  it("recognizes the diamond's functions by their selectors", () => {
    const [one, many] = lifiDiamondAbi.map((item) => toFunctionSelector(item))
    assert.strictEqual(one, "0x4666fc80")
    assert.strictEqual(many, "0x5fd9ae2e")
  })

  for (const [what, step] of lies) {
    it(`refuses ${what}`, () => assert.isTrue(Result.isFailure(checkSwap(expected, step))))
  }

  it("asks for tokens of its own chain", () =>
    assert.isTrue(Result.isFailure(checkSwap({ ...expected, buy: arbWeth.assetId }, honest))))
})
