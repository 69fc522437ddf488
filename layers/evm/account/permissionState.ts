/** A permission as its account has it on the chain. Source: Kernel 0.3.1 validation manager. */
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, zeroAddress } from "viem"
import { permissionValidation } from "#layers/evm/account/kernelAccount.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"

/** The permission on chain. */
export interface Permission {
  readonly isEnabled: boolean
  /** Nonce of the account when the permission was enabled; zero when it never was. */
  readonly nonce: number
  readonly hasHook: boolean
  /** The modules that rule on its operations. */
  readonly policies: ReadonlyArray<Hex>
  readonly currentNonce: number
  /** Permissions of a lower nonce are void. */
  readonly validFrom: number
}

/** The calls that `decodePermission` reads the answers of. */
export const permissionCalls = (account: Address, permissionId: Hex): readonly [Call, Call, Call, Call] => [
  {
    target: account,
    data: encodeFunctionData({ abi: kernelAbi, functionName: "permissionConfig", args: [permissionId] })
  },
  {
    target: account,
    data: encodeFunctionData({
      abi: kernelAbi,
      functionName: "validationConfig",
      args: [permissionValidation(permissionId)]
    })
  },
  { target: account, data: encodeFunctionData({ abi: kernelAbi, functionName: "currentNonce" }) },
  { target: account, data: encodeFunctionData({ abi: kernelAbi, functionName: "validNonceFrom" }) }
]

/** Undefined where the account has no code. Throws when it does not answer as a Kernel account. */
export const decodePermission = ([config, validation, current, from]: ReadonlyArray<CallResult>):
  | Permission
  | undefined => {
  if (config?.success !== true || config.data === "0x") return undefined
  const { policyData, signer } = decodeFunctionResult({
    abi: kernelAbi,
    functionName: "permissionConfig",
    data: config.data
  })
  const { hook, nonce } = decodeFunctionResult({
    abi: kernelAbi,
    functionName: "validationConfig",
    data: validation!.data
  })
  return {
    isEnabled: signer !== zeroAddress,
    nonce,
    hasHook: hook !== zeroAddress,
    // Two bytes of flags, then the module.
    policies: policyData.map((policy) => `0x${policy.slice(6)}` as const),
    currentNonce: decodeFunctionResult({ abi: kernelAbi, functionName: "currentNonce", data: current!.data }),
    validFrom: decodeFunctionResult({ abi: kernelAbi, functionName: "validNonceFrom", data: from!.data })
  }
}
