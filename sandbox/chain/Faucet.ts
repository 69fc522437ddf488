import type { Effect } from "effect"
import { type Address, encodeFunctionData, type Hex } from "viem"
import type { Token } from "#sandbox/assets/catalog.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { operate } from "#sandbox/chain/operate.ts"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** Creates raw units of a token, WETH included, for an account. Answers the hash of the mined transaction. */
export const mint = (
  chain: Chain,
  account: Address,
  { amountRaw, token }: { readonly token: Token; readonly amountRaw: bigint }
): Effect.Effect<Hex, SandboxFailure> =>
  operate(chain.client, {
    what: `mint ${amountRaw} raw units of ${token.symbol} for ${account}`,
    to: chain.contracts.treasury,
    data: encodeFunctionData({
      abi: chain.treasuryAbi,
      functionName: "issue",
      args: [token.address, account, amountRaw]
    })
  })

/** Sends native ether, in wei, from the treasury to an account. Answers the hash of the mined transaction. */
export const sendEther = (chain: Chain, account: Address, wei: bigint): Effect.Effect<Hex, SandboxFailure> =>
  operate(chain.client, {
    what: `send ${wei} wei to ${account}`,
    to: chain.contracts.treasury,
    data: encodeFunctionData({ abi: chain.treasuryAbi, functionName: "send", args: [account, wei] })
  })
