/**
 * Calldata of one function of a contract. The selector is hashed once, where viem's `encodeFunctionData` hashes the
 * function's signature whenever it is called.
 */
import {
  type Abi,
  type AbiStateMutability,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  type Hex,
  prepareEncodeFunctionData
} from "viem"

/** Throws when the ABI has no function of the name, or several. */
export const callDataOf = <const ABI extends Abi, Name extends ContractFunctionName<ABI>>(
  abi: ABI,
  functionName: Name
): ((...args: Extract<ContractFunctionArgs<ABI, AbiStateMutability, Name>, ReadonlyArray<unknown>>) => Hex) => {
  const named = abi.filter((item) => item.type === "function" && item.name === functionName)
  if (named.length !== 1) throw new Error(`${functionName} stands ${named.length} times in its ABI, not once`)
  const prepared = prepareEncodeFunctionData({ abi: abi as Abi, functionName })
  return (...args) => encodeFunctionData({ ...prepared, args } as never)
}
