/**
 * User operations of the agent. The first one deploys the account and includes the owner's signature that enables the
 * permission; later ones include the agent's alone. Sources: ERC-4337 (EntryPoint 0.7), Kernel 0.3.1 nonce and
 * signature.
 */
import { concatHex, encodeAbiParameters, type Hex, hexToBigInt, pad, parseAbiParameters, zeroAddress } from "viem"
import { toPackedUserOperation, type UserOperation } from "viem/account-abstraction"
import type { ChainId } from "#domain/values/Caip.ts"
import type { Authorization, ChainAuthorization } from "#domain/account/Authorization.ts"
import { permissionData } from "#layers/evm/account/agentPermission.ts"
import { rootSignature } from "#layers/evm/account/digestTree.ts"
import { selectorData } from "#layers/evm/account/enableMessage.ts"
import { accountDeployment } from "#layers/evm/account/kernelAccount.ts"
import { addressOf, toViem, evmPolicy } from "#layers/evm/address.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import type { GasLimits } from "#layers/evm/execution/gasLimits.ts"
import { keccak256 } from "#layers/evm/signer/keccak.ts"

/** How a user operation enters the account: with an enabled permission, or enabling it on the way. */
export type PermissionMode = "enabled" | "enable"

/** The EntryPoint's key of the operation's nonce: it names to Kernel the mode and the permission that validates. */
export const nonceKey = (permissionId: Hex, mode: PermissionMode): bigint =>
  hexToBigInt(
    concatHex([mode === "enable" ? "0x01" : "0x00", "0x02", pad(permissionId, { size: 20, dir: "right" }), "0x0000"])
  )

export interface AgentOperation {
  readonly authorization: Authorization
  readonly chain: ChainAuthorization
  /** The owner's signature over the authorization's message, in canonical form. */
  readonly ownerSignature: Hex
  readonly deployed: boolean
  readonly mode: PermissionMode
  readonly nonce: bigint
  readonly callData: Hex
  readonly gas: GasLimits
}

/** The operation without a signature. Its fees are zero: the relayer pays for the transaction, not the account. */
export const unsignedOperation = (operation: AgentOperation): UserOperation<"0.7"> => ({
  sender: toViem(addressOf(operation.chain.accountId)),
  nonce: operation.nonce,
  callData: operation.callData,
  ...(operation.deployed ? {} : accountDeployment(operation.authorization)),
  ...operation.gas,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  signature: "0x"
})

const hashedOperation = parseAbiParameters("address, uint256, bytes32, bytes32, bytes32, uint256, bytes32, bytes32")
const hashedWithChain = parseAbiParameters("bytes32, address, uint256")

/** The hash that the agent signs, bound to the EntryPoint and the chain. Source: EntryPoint 0.7, `getUserOpHash`. */
export const operationHash = (userOperation: UserOperation<"0.7">, chainId: ChainId): Hex => {
  const packed = toPackedUserOperation(userOperation)
  const { accountGasLimits, gasFees, nonce, preVerificationGas, sender } = packed
  const operation = keccak256(
    encodeAbiParameters(hashedOperation, [
      sender,
      nonce,
      keccak256(packed.initCode),
      keccak256(packed.callData),
      accountGasLimits,
      preVerificationGas,
      gasFees,
      keccak256(packed.paymasterAndData)
    ])
  )
  return keccak256(encodeAbiParameters(hashedWithChain, [operation, entryPoint, BigInt(chainId)]))
}

const enableParts = [
  { type: "bytes" },
  { type: "bytes" },
  { type: "bytes" },
  { type: "bytes" },
  { type: "bytes" }
] as const

/**
 * The owner's signature as the root validator takes it: a contract signs for its one chain, a key for the root of all.
 */
const enableSignature = (authorization: Authorization, chain: ChainAuthorization, ownerSignature: Hex): Hex =>
  authorization.accountType === "ERC1271"
    ? ownerSignature
    : rootSignature(
        ownerSignature,
        authorization.chains.map(({ digest }) => digest as Hex),
        chain.digest as Hex
      )

/**
 * The signature field: the agent's EIP-191 signature over the hash, and what enables the permission when it is not yet.
 */
export const operationSignature = (
  { authorization, chain, mode, ownerSignature }: AgentOperation,
  agentSignature: Hex
): Hex => {
  const permissionSignature = concatHex(["0xff", agentSignature])
  if (mode === "enabled") return permissionSignature
  const permission = permissionData({
    policy: evmPolicy(chain),
    account: addressOf(chain.accountId),
    agent: toViem(addressOf(authorization.agentAccountId)),
    settles: authorization.withdrawalDomainName !== null
  })
  return concatHex([
    zeroAddress,
    encodeAbiParameters(enableParts, [
      permission,
      "0x",
      selectorData,
      enableSignature(authorization, chain, ownerSignature),
      permissionSignature
    ])
  ])
}

/** The form in which the EntryPoint takes the operation. */
export const packedOperation = (userOperation: UserOperation<"0.7">, signature: Hex) =>
  toPackedUserOperation({ ...userOperation, signature })
