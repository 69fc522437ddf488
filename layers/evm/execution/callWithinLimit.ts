/**
 * Whether calls of an account end well with exactly the gas that their operation gives them. The EntryPoint makes the
 * call, as it will; nothing else is in the transaction.
 */
import { Effect } from "effect"
import { BaseError, type Hex, hexToBytes, type PublicClient } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { toViem } from "#layers/evm/address.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"

export interface LimitedCall {
  readonly chainId: ChainId
  readonly account: EvmAddress
  /** Calldata of the account's `execute`. */
  readonly execute: Hex
  readonly callGasLimit: bigint
}

/** What a transaction costs before its call begins. Source: EIP-2028. */
const intrinsicGas = (data: Hex): bigint =>
  hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? 4n : 16n), 21_000n)

/** Nodes have no common code for these answers, only common texts. */
const failedInChain = /revert|out of gas|gas (?:required )?exceed|intrinsic gas|invalid opcode|stack/iu

const endsWell = async (client: PublicClient, { account, callGasLimit, execute }: LimitedCall): Promise<boolean> => {
  try {
    await client.call({
      account: entryPoint,
      to: toViem(account),
      data: execute,
      gas: callGasLimit + intrinsicGas(execute)
    })
    return true
  } catch (error) {
    const answer = rpcErrorOf(error)
    if (error instanceof BaseError && answer !== undefined && (answer.code === 3 || failedInChain.test(answer.details)))
      return false
    throw error
  }
}

export const callWithinLimit = Effect.fnUntraced(function* (call: LimitedCall) {
  const { request } = yield* EvmClients
  return yield* request(call.chainId, "eth_call", (client) => endsWell(client, call))
})
