/** A route is taken only when it is exactly what was asked for: one test for each way in which it may not be. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { concatHex, encodeFunctionData, erc20Abi, type Hex } from "viem"
import { addressOf, evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import type { RouteRequest } from "#domain/trading/Routing.ts"
import { toViem } from "#layers/evm/address.ts"
import { depositData } from "#layers/evm/execution/transferCalls.ts"
import { checkStep } from "#layers/routing/lifi/checkStep.ts"
import type { LifiStep } from "#layers/routing/lifi/wire.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { stepVariations } from "#test/layers/routing/stepVariations.ts"

const account = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const thief = "0xde709f2102306220921060314715629080e2fb77" as EvmAddress
const bridge = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress

const request: RouteRequest = {
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw: 1_000_000n,
  accountId: evmAccount(baseUsdc.chainId, account),
  bridgeAddress: bridge,
  minRaw: 990_000n
}

const call = { sell: request.sell, buy: request.buy, amountRaw: request.amountRaw, minRaw: 995_000n }

const times = { quotedAt: 1_772_444_400, fillDeadline: 1_772_448_000 }

/** The call with one of its words another one, which `depositData` never writes. */
const withWord = (index: number, word: bigint): Hex => {
  const data = depositData(call, account, times)
  const at = 10 + 64 * index
  return `${data.slice(0, at)}${word.toString(16).padStart(64, "0")}${data.slice(at + 64)}` as Hex
}

const honest: LifiStep = {
  type: "lifi",
  tool: "vault",
  action: {
    fromChainId: 8453,
    toChainId: 42161,
    fromToken: { chainId: 8453, address: addressOf(request.sell) },
    toToken: { chainId: 42161, address: addressOf(request.buy).toLowerCase() },
    fromAmount: "1000000",
    fromAddress: account,
    toAddress: account
  },
  estimate: {
    fromAmount: "1000000",
    toAmount: "999500",
    toAmountMin: "995000",
    approvalAddress: bridge,
    executionDuration: 2.5
  },
  transactionRequest: {
    from: account,
    to: bridge,
    chainId: 8453,
    data: depositData(call, account, times),
    value: "0x0"
  }
}

const { action, estimate, transaction } = stepVariations(honest)
const data = (change: Partial<typeof call>, recipient = account) =>
  transaction({ data: depositData({ ...call, ...change }, recipient, times) })

const lies: ReadonlyArray<readonly [what: string, step: LifiStep]> = [
  ["another source chain", action({ fromChainId: 1 })],
  ["another destination chain", action({ toChainId: 1 })],
  ["another token to send", action({ fromToken: { chainId: 8453, address: addressOf(baseWeth.assetId) } })],
  ["another token to deliver", action({ toToken: { chainId: 42161, address: addressOf(arbWeth.assetId) } })],
  ["another sender", action({ fromAddress: thief })],
  ["another recipient", action({ toAddress: thief })],
  ["another amount", action({ fromAmount: "1000001" })],
  ["another estimated amount", estimate({ fromAmount: "999999" })],
  ["an allowance for somebody else", estimate({ approvalAddress: thief })],
  ["an amount below our minimum", estimate({ toAmountMin: "989999" })],
  ["less expected than the least", estimate({ toAmount: "994999" })],
  ["a call of another contract", transaction({ to: thief })],
  ["a transaction of another account", transaction({ from: thief })],
  ["a transaction on another chain", transaction({ chainId: 1 })],
  ["native value", transaction({ value: "0x1" })],
  [
    "another function",
    transaction({
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [toViem(thief), 1_000_000n] })
    })
  ],
  ["no function at all", transaction({ data: "0x" })],
  ["a call for another token", data({ sell: baseWeth.assetId })],
  ["a call for another amount", data({ amountRaw: 1_000_001n })],
  ["a call to another chain", data({ buy: baseWeth.assetId })],
  ["a call for another destination token", data({ buy: arbWeth.assetId })],
  ["a call with a lower minimum amount out than its estimate", data({ minRaw: 994_999n })],
  ["a call for another recipient", data({}, thief)],
  ["a call that gives back to somebody else", transaction({ data: withWord(0, BigInt(thief)) })],
  ["a call that pays somebody else", transaction({ data: withWord(1, BigInt(thief)) })],
  ["a call for one relayer alone", transaction({ data: withWord(7, BigInt(thief)) })],
  ["a call with a time of exclusivity", transaction({ data: withWord(10, 1n) })],
  ["a call with a message", transaction({ data: concatHex([withWord(12, 1n), `0x${"ff".repeat(32)}`]) })],
  [
    "a call with something behind it",
    transaction({ data: concatHex([depositData(call, account, times), "0x00"]) as Hex })
  ]
]

describe("checkStep", () => {
  it("takes a step that is what was asked for", () => {
    const route = { tool: "vault", minRaw: 995_000n, expectedRaw: 999_500n, durationSeconds: 3 }
    assert.deepStrictEqual(checkStep(request, honest), Result.succeed(route))
    const { fromAddress: _, ...anonymous } = honest.action
    assert.isTrue(Result.isSuccess(checkStep(request, { ...honest, action: anonymous })))
  })

  for (const [what, step] of lies) {
    it(`refuses ${what}`, () => assert.isTrue(Result.isFailure(checkStep(request, step))))
  }
})
