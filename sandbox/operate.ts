import { Effect } from "effect"
import { type Address, type Hex, toHex } from "viem"
import type { ChainClient } from "#sandbox/Anvil.ts"
import { operator } from "#sandbox/canonical.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** A transaction of the world's operator. `gas` is set where an estimate would cost more than it saves. */
export interface OperatorCall {
  readonly what: string
  readonly to: Address
  readonly data?: Hex
  readonly value?: bigint
  readonly gas?: bigint
}

/** Sends a transaction as the operator and answers its hash once it is mined; a revert is a failure. */
export const operate = (client: ChainClient, call: OperatorCall): Effect.Effect<Hex, SandboxFailure> =>
  Effect.tryPromise({
    try: async () => {
      const receipt = (await client.request({
        method: "eth_sendTransactionSync" as never,
        params: [
          {
            from: operator,
            to: call.to,
            ...(call.data === undefined ? {} : { data: call.data }),
            ...(call.value === undefined ? {} : { value: toHex(call.value) }),
            ...(call.gas === undefined ? {} : { gas: toHex(call.gas) })
          }
        ] as never
      })) as { readonly status: Hex; readonly transactionHash: Hex }
      if (receipt.status !== "0x1") throw new Error(`transaction ${receipt.transactionHash} reverted`)
      return receipt.transactionHash
    },
    catch: (cause) =>
      new SandboxFailure({ message: `Chain ${client.chain.id} refused to ${call.what}: ${reason(cause)}`, cause })
  })

const reason = (cause: unknown) =>
  cause instanceof Error ? (cause.message.split("\n")[0] ?? cause.name) : String(cause)
