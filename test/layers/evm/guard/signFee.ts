/** Has an owner sign a fee, as a renewal of the permission would. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, concatHex, encodeFunctionData, type Hex, pad, parseAbi, toHex } from "viem"
import { evmPolicy } from "#layers/evm/address.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { ownersAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Enrollment, owner } from "#test/layers/evm/EvmWorld.ts"
import { outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"

export const signFee = Effect.fnUntraced(function* (
  chain: Chain,
  { authorization }: Enrollment,
  { bps, index, recipient }: { readonly index: bigint; readonly recipient: Address; readonly bps: number }
) {
  const [authorized] = authorization.chains
  const { issuedAt, validUntil } = evmPolicy(authorized).guard!
  const data = concatHex([
    pad(authorized.permissionId as Hex, { size: 32, dir: "right" }),
    toHex(issuedAt + 60, { size: 5 }),
    toHex(validUntil, { size: 5 }),
    // Default limits; an integrator's fee follows.
    "0x0000000002",
    recipient,
    toHex(bps, { size: 1 })
  ])
  const install = encodeFunctionData({
    abi: parseAbi(["function onInstall(bytes data)"]),
    functionName: "onInstall",
    args: [data]
  })
  yield* Effect.promise(async () => {
    const account = await ownersAccount(chain, owner, index)
    const calls = await account.encodeCalls([{ to: chain.contracts.guard, value: 0n, data: install }])
    assert.strictEqual(outcomeOf(await submitAlone(chain, account, calls)), "included")
  })
})
