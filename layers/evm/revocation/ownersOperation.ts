/**
 * The user operation by which an owner voids permissions: validated by the account's root validator, and public once it
 * is signed, so that any account may submit it. Sources: Kernel 0.3.1 (nonce, `invalidateNonce`), ERC-4337 (EntryPoint
 * 0.7).
 */
import { bytesToHex, concatHex, encodeFunctionData, type Hex, hexToBigInt } from "viem"
import type { UserOperation } from "viem/account-abstraction"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { ChainRevocation, Revocation } from "#domain/account/Revocation.ts"
import { rootSignature } from "#layers/evm/account/digestTree.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import { packedOperation } from "#layers/evm/execution/agentOperation.ts"

/** An owner that is a contract may check many keys. */
const contractOwnerGas = 1_500_000n
/** What the operation may use, without the transaction around it. */
export const operationGas = (accountType: AccountType) => ({
  verificationGasLimit: 500_000n + (accountType === "ERC1271" ? contractOwnerGas : 0n),
  callGasLimit: 150_000n,
  preVerificationGas: 100_000n
})

/**
 * The first nonce under a key of its own: mode "validate", type "root validator", and 20 drawn bytes, which Kernel does
 * not read for that type. An operation that is never submitted so holds up no other.
 */
export const drawnNonce = (drawn: Uint8Array): bigint =>
  hexToBigInt(concatHex(["0x0000", bytesToHex(drawn, { size: 20 }), "0x0000"])) << 64n

type Terms = Pick<ChainRevocation, "accountId" | "operationNonce" | "validFrom">

/** Without a signature. Its fees are zero: the sender of the transaction pays for it, not the account. */
export const ownersOperation = (
  { accountId, operationNonce, validFrom }: Terms,
  accountType: AccountType
): UserOperation<"0.7"> => ({
  sender: toViem(addressOf(accountId)),
  nonce: operationNonce,
  callData: encodeFunctionData({ abi: kernelAbi, functionName: "invalidateNonce", args: [validFrom] }),
  ...operationGas(accountType),
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  signature: "0x"
})

/** As the EntryPoint takes it; undefined when what is stored cannot be the owner's signature. */
export const signedOperation = (revocation: Revocation, chain: ChainRevocation, signature: string) => {
  const { accountType, chains } = revocation
  const canonical = ownerSignature(accountType, signature)
  if (canonical === undefined) return undefined
  const digests = chains.map(({ digest }) => digest as Hex)
  return packedOperation(
    ownersOperation(chain, accountType),
    accountType === "ERC1271" ? canonical : rootSignature(canonical, digests, chain.digest as Hex)
  )
}
