/**
 * A user operation that the owner of an account signs itself: validated by the account's root validator, and public
 * once it is signed, so that any account may submit it. Sources: Kernel 0.3.1 (nonce), ERC-4337 (EntryPoint 0.7).
 */
import { type Address, bytesToHex, concatHex, encodeFunctionData, type Hex, hexToBigInt } from "viem"
import { toPackedUserOperation, type UserOperation } from "viem/account-abstraction"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { AccountId } from "#domain/values/Caip.ts"
import { rootSignature } from "#layers/evm/account/digestTree.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { entryPoint, entryPointAbi, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

/** An owner that is a contract may check many keys. */
const contractOwnerGas = 1_500_000n
/** What the operation may use, without the transaction around it. */
export const operationGas = (accountType: AccountType, callGasLimit: bigint) => ({
  verificationGasLimit: 500_000n + (accountType === "ERC1271" ? contractOwnerGas : 0n),
  callGasLimit,
  preVerificationGas: 100_000n
})

/**
 * The first nonce under a key of its own: mode "validate", type "root validator", and 20 bytes, which Kernel does not
 * read for that type. An operation under drawn bytes that is never submitted holds up no other.
 */
export const rootNonce = (key: Uint8Array): bigint =>
  hexToBigInt(concatHex(["0x0000", bytesToHex(key, { size: 20 }), "0x0000"])) << 64n

export interface OwnersOperation {
  readonly accountType: AccountType
  readonly accountId: AccountId
  readonly operationNonce: bigint
  /** What the account is called with. */
  readonly callData: Hex
  readonly callGasLimit: bigint
}

/**
 * Builds an operation without a signature. Its fees are zero: the sender of the transaction pays for it, not the
 * account.
 */
export const ownersOperation = ({
  accountId,
  accountType,
  callData,
  callGasLimit,
  operationNonce
}: OwnersOperation): UserOperation<"0.7"> => ({
  sender: toViem(addressOf(accountId)),
  nonce: operationNonce,
  callData,
  ...operationGas(accountType, callGasLimit),
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  signature: "0x"
})

interface OwnersSignature {
  /** Signature in canonical form, over the root of the digests. */
  readonly signature: Hex
  /** Digests of all operations that it is over, this one's among them. */
  readonly digests: ReadonlyArray<Hex>
  readonly digest: Hex
}

/** The call of the EntryPoint that carries the operation out; what it charges, nothing, goes to the beneficiary. */
export const handleCall = (
  operation: OwnersOperation,
  { digest, digests, signature }: OwnersSignature,
  beneficiary: Address
): Call => {
  const signed = toPackedUserOperation({
    ...ownersOperation(operation),
    signature: operation.accountType === "ERC1271" ? signature : rootSignature(signature, digests, digest)
  })
  return {
    target: entryPoint,
    data: encodeFunctionData({ abi: entryPointAbi, functionName: "handleOps", args: [[signed], beneficiary] })
  }
}

/** A call alone, or after others such as the deployment of its account, all or none. */
export const transactionOf = (calls: ReadonlyArray<Call>): Call =>
  calls.length === 1
    ? calls[0]!
    : {
        target: multicall3,
        data: encodeFunctionData({
          abi: multicall3Abi,
          functionName: "aggregate3",
          args: [calls.map(({ data, target }) => ({ target, allowFailure: false, callData: data }))]
        })
      }
