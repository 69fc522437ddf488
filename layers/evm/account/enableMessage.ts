/**
 * Kernel's `Enable` message: with the owner's signature over it, the account accepts a permission in the same user
 * operation that first uses it. Source: EIP-712, Kernel 0.3.1 validation manager.
 */
import { concatHex, encodeAbiParameters, hashTypedData, type Hex, toFunctionSelector, zeroAddress } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { toViem } from "#layers/evm/address.ts"
import { permissionValidation } from "#layers/evm/account/kernelAccount.ts"
import { kernelVersion } from "#layers/evm/contracts.ts"

/** `Enable` is accepted at the account's current nonce; one whose owner never made anything void is at its first. */
export const nonceOfFreshAccount = 1

const execute = toFunctionSelector("execute(bytes32,bytes)")

/** The one function that the permission may enter the account by: `execute`, as the account itself implements it. */
export const selectorData = concatHex([
  execute,
  zeroAddress,
  zeroAddress,
  encodeAbiParameters([{ type: "bytes" }, { type: "bytes" }], ["0xff", "0x0000"])
])

const types = {
  Enable: [
    { name: "validationId", type: "bytes21" },
    { name: "nonce", type: "uint32" },
    { name: "hook", type: "address" },
    { name: "validatorData", type: "bytes" },
    { name: "hookData", type: "bytes" },
    { name: "selectorData", type: "bytes" }
  ]
} as const

export interface PermissionEnabling {
  readonly chainId: ChainId
  readonly account: EvmAddress
  readonly permissionId: Hex
  /** The data of the permission. */
  readonly permission: Hex
  /** The account's. */
  readonly nonce: number
}

/** EIP-712 digest by which an account enables a permission on one chain. */
export const enableDigest = ({ account, chainId, nonce, permission, permissionId }: PermissionEnabling): Hex =>
  hashTypedData({
    domain: { name: "Kernel", version: kernelVersion, chainId, verifyingContract: toViem(account) },
    types,
    primaryType: "Enable",
    message: {
      validationId: permissionValidation(permissionId),
      nonce,
      hook: zeroAddress,
      validatorData: permission,
      hookData: "0x",
      selectorData
    }
  })
