/** User operations that whoever holds a key signs by hand and submits to the EntryPoint himself, at no price of gas. */
import { type Address, encodeFunctionData, type Hex, parseEventLogs } from "viem"
import {
  entryPoint07Abi,
  entryPoint07Address,
  toPackedUserOperation,
  type UserOperation
} from "viem/account-abstraction"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { stranger } from "#test/layers/evm/EvmWorld.ts"

export interface Call {
  readonly to: Address
  readonly value?: bigint
  readonly data: Hex
}

/** What of an account of ZeroDev's SDK is used here. */
export interface SdkAccount {
  readonly address: Address
  readonly getNonce: () => Promise<bigint>
  readonly signUserOperation: (operation: UserOperation<"0.7">) => Promise<Hex>
}

const handleOps = async (account: SdkAccount, callData: Hex): Promise<Hex> => {
  const operation = {
    sender: account.address,
    nonce: await account.getNonce(),
    callData,
    callGasLimit: 2_000_000n,
    verificationGasLimit: 5_000_000n,
    preVerificationGas: 100_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    signature: "0x" as Hex
  }
  operation.signature = await account.signUserOperation(operation)
  return encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [[toPackedUserOperation(operation)], stranger.address]
  })
}

export type Submission =
  | { readonly _tag: "Included" }
  /** Its calls did nothing; the data that they reverted with. */
  | { readonly _tag: "Reverted"; readonly data: Hex }
  /** Why the EntryPoint did not run it. */
  | { readonly _tag: "Refused"; readonly reason: string }

/** What becomes of an operation that is submitted alone. */
export const submitAlone = async (chain: Chain, account: SdkAccount, callData: Hex): Promise<Submission> => {
  const call = { to: entryPoint07Address, data: await handleOps(account, callData), gas: 10_000_000n }
  const hash = await chain.client.sendTransaction({ ...call, account: stranger })
  const { logs, status } = await chain.client.waitForTransactionReceipt({ hash })
  if (status === "success") {
    const [end] = parseEventLogs({ abi: entryPoint07Abi, eventName: "UserOperationEvent", logs })
    if (end?.args.success === true) return { _tag: "Included" }
    const [revert] = parseEventLogs({ abi: entryPoint07Abi, eventName: "UserOperationRevertReason", logs })
    return { _tag: "Reverted", data: revert?.args.revertReason ?? "0x" }
  }
  return chain.client.call({ ...call, account: stranger.address }).then(
    () => ({ _tag: "Refused", reason: "nothing that shows in a call" }),
    (error: { walk: (match: (cause: unknown) => boolean) => { data: Hex | { data: Hex } } }) => {
      const { data } = error.walk((cause) => typeof cause === "object" && cause !== null && "data" in cause)
      return { _tag: "Refused", reason: revertReason(typeof data === "string" ? data : data.data) }
    }
  )
}

/** Says the outcome in a word, or by the reason of a refusal. */
export const outcomeOf = (submission: Submission): string =>
  submission._tag === "Refused" ? submission.reason : submission._tag.toLowerCase()
