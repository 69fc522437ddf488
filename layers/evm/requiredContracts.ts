/**
 * The contracts that the service builds on, by name: the same on every chain, and those that a chain's configuration
 * names.
 */
import { CALL_POLICY_CONTRACT_V0_0_4, ECDSA_SIGNER_CONTRACT } from "@zerodev/permissions"
import { constants } from "@zerodev/sdk"
import type { Address } from "viem"
import { toViem } from "#layers/evm/address.ts"
import {
  entryPoint,
  erc1271OwnerValidator,
  kernelFactory,
  kernelVersion,
  metaFactory,
  multicall3,
  ownerValidator,
  withdrawalExecutor
} from "#layers/evm/contracts.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"

/** Code of EntryPoint 0.7 on every chain: it has no immutables, and all money passes under its rules. */
const entryPointCodeHash = "0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58"

type Named = readonly [name: string, address: Address, codeHash?: string]

/** Contracts of others that every chain has at the same address. */
export const contractsOfOthers: ReadonlyArray<Named> = [
  ["EntryPoint 0.7", entryPoint, entryPointCodeHash],
  [`Kernel ${kernelVersion}`, constants.KernelVersionToAddressesMap[kernelVersion].accountImplementationAddress],
  ["Kernel's factory", kernelFactory],
  ["Kernel's meta factory", metaFactory],
  ["the owner validator", ownerValidator],
  ["the agent's signer module", ECDSA_SIGNER_CONTRACT],
  ["the call policy module", CALL_POLICY_CONTRACT_V0_0_4],
  ["Multicall3", multicall3]
]

const everywhere: ReadonlyArray<Named> = [
  ...contractsOfOthers,
  ["the validator of contract owners", erc1271OwnerValidator],
  ["the withdrawal executor", withdrawalExecutor]
]

/** Lists contracts without RoutedSwap, whose code depends on the chain. */
export const requiredContracts = ({ bridge, router }: Pick<EvmChain, "bridge" | "router">): ReadonlyArray<Named> => [
  ...everywhere,
  ["the Uniswap v2 router", toViem(router)],
  ...(bridge === undefined ? [] : [["the bridge", toViem(bridge)] as const])
]
