/**
 * Withdrawals of a chain's native coin. The executor moves tokens alone, so the owner signs an operation of the account
 * itself, which any account may submit. All of them have their nonces under one key of the account: of several that
 * were signed at the same nonce the chain carries one out, whichever comes first. Sources: Kernel 0.3.1 (`execute`),
 * ERC-7579 (mode of a single call), ERC-4337 (EntryPoint 0.7); docs/decisions/0353-withdrawals-of-native-coins.md.
 */
import {
  type Address,
  bytesToHex,
  concatHex,
  hexToBytes,
  hexToBigInt,
  type Hex,
  keccak256,
  numberToHex,
  slice,
  stringToHex
} from "viem"
import type { AccountId } from "#domain/values/Caip.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { nativeOf } from "#domain/account/WithdrawalMessage.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { entryPoint, entryPointAbi, kernelAbi, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import { operationHash } from "#layers/evm/execution/agentOperation.ts"
import { handleCall, type OwnersOperation, ownersOperation, rootNonce } from "#layers/evm/account/ownersOperation.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

/** A withdrawal as it is signed. */
export type Unsigned = Pick<AuthorizedWithdrawal, "accountId" | "grant" | "message">

/** The recipient may be a contract, whose code runs when it receives. */
const payingGas = 300_000n

const execute = callDataOf(kernelAbi, "execute")
const getNonce = callDataOf(entryPointAbi, "getNonce")
const getEthBalance = callDataOf(multicall3Abi, "getEthBalance")

/** ERC-7579 mode of one call, which reverts when the call does. */
const singleCall: Hex = `0x${"00".repeat(32)}`

/** Twenty bytes that no drawn key has but by chance. */
const key = hexToBytes(slice(keccak256(stringToHex("withdrawals of the native coin")), 12))
const firstNonce = rootNonce(key)

/** The account's next nonce for a withdrawal of its native coin. */
export const nextNonceCall = (accountId: AccountId): Call => ({
  target: entryPoint,
  data: getNonce(toViem(addressOf(accountId)), firstNonce >> 64n)
})

/** The EntryPoint's nonce of the operation; its position is in the last eight bytes of the message's. */
export const entryPointNonceOf = (nonce: string): bigint => firstNonce | hexToBigInt(slice(nonce as Hex, 24))

/** A message's nonce of 24 drawn bytes and the account's next one. */
export const messageNonce = (drawn: Uint8Array, next: bigint): string =>
  concatHex([bytesToHex(drawn.slice(0, 24), { size: 24 }), numberToHex(BigInt.asUintN(64, next), { size: 8 })])

/** First line of the text whose hash follows the call's arguments. */
const title = "Withdrawal of the native coin"

/**
 * The operation that pays the recipient; undefined where the message is about tokens. What follows the call's arguments
 * is not read on the chain: it binds the signature to the whole message.
 */
export const nativeOperation = ({ accountId, grant, message }: Unsigned): OwnersOperation | undefined => {
  const native = nativeOf(message)
  if (native === undefined) return undefined
  const paid = concatHex([
    toViem(addressOf(message.recipientAccountId)),
    numberToHex(BigInt(native.amountRaw), { size: 32 })
  ])
  return {
    accountType: grant.authorization.accountType,
    accountId,
    operationNonce: entryPointNonceOf(message.nonce),
    callData: concatHex([execute(singleCall, paid), keccak256(stringToHex(withdrawalText(title, message)))]),
    callGasLimit: payingGas
  }
}

/** The 32 bytes that the owner signs; undefined as above. */
export const nativeDigest = (withdrawal: Unsigned): Hex | undefined => {
  const operation = nativeOperation(withdrawal)
  return operation === undefined
    ? undefined
    : operationHash(ownersOperation(operation), chainIdOf(withdrawal.accountId))
}

/** The call that carries the operation out. What it charges is nothing, and goes back to the account. */
export const payCall = (withdrawal: Unsigned, operation: OwnersOperation, signature: Hex): Call => {
  const digest = operationHash(ownersOperation(operation), chainIdOf(withdrawal.accountId))
  return handleCall(operation, { signature, digests: [digest], digest }, toViem(addressOf(withdrawal.accountId)))
}

export const coinCall = (account: Address): Call => ({ target: multicall3, data: getEthBalance(account) })
