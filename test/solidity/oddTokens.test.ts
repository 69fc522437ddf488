/**
 * Tokens that do not answer a transfer as ERC-20 has it, and one that calls back. Each is a few instructions placed by
 * hand.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, concat, encodeFunctionData, getAddress, type Hex, size, toHex } from "viem"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import {
  type Authorization,
  type Call,
  domainOf,
  newAuthorization,
  signed,
  submitCall,
  verdict
} from "#test/solidity/withdrawals.ts"
import { enroll, EvmWorld, EvmWorldLive, owner, stranger } from "#test/layers/evm/EvmWorld.ts"
import { deployAccount } from "#test/layers/evm/tradingAccount.ts"

const recipient: Address = "0x52908400098527886E0F7030069857D2E4169EE7"

/** PUSH1 value, PUSH1 0, MSTORE, PUSH1 length, PUSH1 0, RETURN. */
const answering = (value: number, length = 32): Hex =>
  concat(["0x60", toHex(value, { size: 1 }), "0x600052", "0x60", toHex(length, { size: 1 }), "0x6000f3"])

const tokens: ReadonlyArray<readonly [what: string, code: Hex, verdict: string]> = [
  ["answers nothing, as old tokens do", "0x00", "accepted"],
  ["answers true", answering(1), "accepted"],
  ["answers true and more", answering(1, 64), "accepted"],
  ["answers false", answering(0), "TransferFailed"],
  ["answers a number that is not true", answering(2), "TransferFailed"],
  ["answers a single byte", answering(1, 1), "TransferFailed"],
  ["reverts", "0x60006000fd", "reverted"],
  ["is not there", "0x", "TransferFailed"]
]

const pushed = (value: number | Hex): Hex => {
  const bytes = typeof value === "number" ? toHex(value, { size: 2 }) : value
  return concat([toHex(0x5f + size(bytes)), bytes])
}

const calldataOf = (call: Call) =>
  encodeFunctionData({ abi: withdrawalExecutorAbi, ...(call as { functionName: "withdraw"; args: never }) })

/** Calls the executor with `payload` when it is transferred, and answers true only if that was refused. */
const calling = (payload: Hex): Hex => {
  const length = pushed(size(payload))
  const program = (offset: number) =>
    concat(
      [
        [length, pushed(offset), pushed("0x00"), "0x39" as const], // CODECOPY of the payload to memory 0
        [pushed("0x00"), pushed("0x00"), length, pushed("0x00"), pushed("0x00")], // no answer, the payload, no value
        [pushed(withdrawalExecutor), "0x5a" as const, "0xf1" as const], // GAS, CALL
        ["0x15" as const, pushed("0x00"), "0x52" as const], // ISZERO of its success, MSTORE
        [pushed("0x20"), pushed("0x00"), "0xf3" as const] // RETURN
      ].flat()
    )
  return concat([program(size(program(0))), payload])
}

const preparing = Effect.fnUntraced(function* (index: bigint, at: Address) {
  const { base } = yield* EvmWorld
  const enrollment = yield* enroll(index, [[base, "USDC"]])
  yield* deployAccount(base, enrollment.authorization)
  const account = enrollment.account as string as Address
  const authorization: Authorization = {
    ...(yield* newAuthorization(base, recipient)),
    assets: [{ token: at, amount: 5n }]
  }
  const signature = yield* Effect.promise(() => signed(owner, domainOf(base, account, "1"), authorization))
  const call: Call = { functionName: "withdraw", args: [account, authorization, signature] }
  return { chain: base, call, place: (code: Hex) => base.client.setCode({ address: at, bytecode: code }) }
})

describe("WithdrawalExecutor and a token that", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    for (const [index, [what, code, expected]] of tokens.entries()) {
      it.effect(`${what}: ${expected}`, () =>
        Effect.gen(function* () {
          const at = getAddress(toHex(0x0dd0_0000_0000n + BigInt(index), { size: 20 }))
          const { call, chain, place } = yield* preparing(BigInt(90 + index), at)
          yield* Effect.promise(() => place(code))
          const answer = yield* verdict(chain, stranger.address, call)
          if (expected === "reverted") assert.notStrictEqual(answer, "accepted")
          else assert.strictEqual(answer, expected)
        })
      )
    }

    it.effect("calls back with another authorization is heard: the refusal below is that of the nonce", () =>
      Effect.gen(function* () {
        const at = getAddress(toHex(0x0dd0_0000_2000n, { size: 20 }))
        const { call, chain, place } = yield* preparing(101n, at)
        const other = yield* preparing(102n, getAddress(toHex(0x0dd0_0000_2001n, { size: 20 })))
        yield* Effect.promise(() => other.place(answering(1)))
        yield* Effect.promise(() => place(calling(calldataOf(other.call))))
        assert.strictEqual(yield* verdict(chain, stranger.address, call), "TransferFailed")
      })
    )

    it.effect("calls back with the same authorization is refused then, and paid once", () =>
      Effect.gen(function* () {
        const at = getAddress(toHex(0x0dd0_0000_1000n, { size: 20 }))
        const { call, chain, place } = yield* preparing(100n, at)
        const payload = calldataOf(call)
        yield* Effect.promise(() => place(calling(payload)))
        const receipt = yield* submitCall(chain, stranger, call)
        assert.strictEqual(receipt.status, "success")
        assert.strictEqual(receipt.logs.length, 1)
      })
    )
  })
})
