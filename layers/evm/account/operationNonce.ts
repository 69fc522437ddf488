/**
 * Whether an account's operation can still be included, by the account's nonce in the EntryPoint. That is state, which
 * a node shows as of a block that it names or not at all, where a receipt or a log that it lacks seems one that does
 * not exist. Source: ERC-4337 (EntryPoint 0.7, `getNonce`).
 */
import { Effect } from "effect"
import { decodeFunctionData, type Hex, isAddressEqual, parseTransaction } from "viem"
import type { AccountId, ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { entryPoint, entryPointAbi, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"

const getNonce = callDataOf(entryPointAbi, "getNonce")

/** The calls of a transaction: of a multicall those that it makes. */
const callsIn = (raw: Hex): ReadonlyArray<{ readonly target: Hex; readonly callData: Hex }> => {
  const { data = "0x", to } = parseTransaction(raw)
  if (to == null) return []
  if (!isAddressEqual(to, multicall3)) return [{ target: to, callData: data }]
  const { args, functionName } = decodeFunctionData({ abi: multicall3Abi, data })
  return functionName === "aggregate3" ? args[0] : []
}

type Nonces = ReadonlyMap<string, bigint>

const none: Nonces = new Map()

/** Nonces by account, of each account's first operation in a call of the EntryPoint. */
const noncesInCall = (callData: Hex): Nonces => {
  try {
    const { args, functionName } = decodeFunctionData({ abi: entryPointAbi, data: callData })
    return functionName === "handleOps"
      ? new Map(args[0].toReversed().map(({ nonce, sender }) => [sender.toLowerCase(), nonce]))
      : none
  } catch {
    return none
  }
}

const keyOf = (accountId: AccountId) => addressOf(accountId).toLowerCase()

/** The nonce of the account's operation in a call of the EntryPoint; undefined where there is none. */
export const operationNonceOf = (callData: string, accountId: AccountId): bigint | undefined =>
  noncesInCall(callData as Hex).get(keyOf(accountId))

type Sent = Pick<SignedTransaction, "raw" | "cancels">

const noncesIn = (transaction: string): Nonces => {
  try {
    const calls = callsIn(transaction as Hex).filter(({ target }) => isAddressEqual(target, entryPoint))
    return new Map(calls.toReversed().flatMap(({ callData }) => [...noncesInCall(callData)]))
  } catch {
    return none
  }
}

/** Reads the nonce in a signed transaction, or in the one that it cancels. */
export const operationNonceIn = ({ cancels, raw }: Sent, accountId: AccountId): bigint | undefined =>
  noncesIn(cancels ?? raw).get(keyOf(accountId))

/** Reads as `operationNonceIn` does, of several operations: a transaction with many is decoded once. */
export const operationNonceReader = () => {
  const known = new Map<string, Nonces>()
  return ({ cancels, raw }: Sent, accountId: AccountId): bigint | undefined => {
    const transaction = cancels ?? raw
    const nonces = known.get(transaction) ?? noncesIn(transaction)
    known.set(transaction, nonces)
    return nonces.get(keyOf(accountId))
  }
}

export interface NonceOfAccount {
  readonly accountId: AccountId
  readonly nonce: bigint
}

/** Reads of each the next nonce of the account under the same key, as of a block. One request. */
export const readNextNonces = Effect.fnUntraced(function* (
  chainId: ChainId,
  nonces: ReadonlyArray<NonceOfAccount>,
  blockNumber: bigint
) {
  if (nonces.length === 0) return []
  const calls = nonces.map(({ accountId, nonce }) => ({
    target: entryPoint,
    data: getNonce(toViem(addressOf(accountId)), nonce >> 64n)
  }))
  const results = (yield* multicall(chainId, calls, { blockNumber })).map(uintOf)
  return yield* Effect.forEach(results, (next) =>
    next === null
      ? Effect.fail(new ChainUnavailable({ chainId, reason: `EntryPoint 0.7 does not answer at ${entryPoint}` }))
      : Effect.succeed(next)
  )
})

/** Reads of each whether an operation with the account's nonce is in a block up to the given one. One request. */
export const readOperationNonces = (chainId: ChainId, nonces: ReadonlyArray<NonceOfAccount>, blockNumber: bigint) =>
  Effect.map(readNextNonces(chainId, nonces, blockNumber), (next) =>
    nonces.map(({ nonce }, index) => next[index]! > nonce)
  )
