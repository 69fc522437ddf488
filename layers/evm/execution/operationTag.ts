/**
 * The tag by which an operation of the service is recognized on chain: sixteen bytes behind the arguments of the
 * account's `execute`, which the account does not read and which its operation's hash covers. Only calldata of the
 * account's own operation counts: any sender may write the same bytes elsewhere.
 */
import { concatHex, decodeFunctionData, type Hex, isAddressEqual, slice, stringToHex } from "viem"
import type { OperationId } from "#domain/values/Ids.ts"
import { entryPointAbi } from "#layers/evm/contracts.ts"
import { keccak256 } from "#layers/evm/signer/keccak.ts"

export const tagOf = (operationId: OperationId): Hex => slice(keccak256(stringToHex(operationId)), 0, 16)

export const withTag = (callData: Hex, operationId: OperationId | undefined): Hex =>
  operationId === undefined ? callData : concatHex([callData, tagOf(operationId)])

/** An operation as the EntryPoint's event names it. */
export interface NamedOperation {
  readonly sender: Hex
  readonly nonce: bigint
}

const operationsIn = (input: Hex) => {
  try {
    const { args, functionName } = decodeFunctionData({ abi: entryPointAbi, data: input })
    return functionName === "handleOps" ? args[0] : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether the operation, which a transaction with this input included, has the tag. A foreign contract may have passed
 * it to the EntryPoint; then the tag anywhere in the input counts, so that it is rather taken for carried out than
 * carried out twice.
 */
export const hasTag = (input: Hex, { nonce, sender }: NamedOperation, tag: Hex): boolean => {
  const operations = operationsIn(input)
  if (operations === undefined) return input.toLowerCase().includes(tag.slice(2))
  return operations.some(
    (one) =>
      one.nonce === nonce && isAddressEqual(one.sender, sender) && one.callData.toLowerCase().endsWith(tag.slice(2))
  )
}
