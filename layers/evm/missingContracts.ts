/**
 * Which contracts that the service builds on a chain does not have. An account that is made of absent parts could hold
 * money that nobody can move, so such a chain is not offered.
 */
import { CALL_POLICY_CONTRACT_V0_0_4, ECDSA_SIGNER_CONTRACT } from "@zerodev/permissions"
import { constants } from "@zerodev/sdk"
import { Effect } from "effect"
import { type Address, type Hex, keccak256, pad } from "viem"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import {
  entryPoint,
  erc1271OwnerValidator,
  kernelFactory,
  kernelVersion,
  metaFactory,
  multicall3,
  ownerValidator,
  routedSwapCodeHash,
  withdrawalExecutor
} from "#layers/evm/contracts.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"

/** Code of EntryPoint 0.7 on every chain: it has no immutables, and all money passes under its rules. */
const entryPointCodeHash = "0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58"

const required: ReadonlyArray<readonly [name: string, address: Address, codeHash?: string]> = [
  ["EntryPoint 0.7", entryPoint, entryPointCodeHash],
  [`Kernel ${kernelVersion}`, constants.KernelVersionToAddressesMap[kernelVersion].accountImplementationAddress],
  ["Kernel's factory", kernelFactory],
  ["Kernel's meta factory", metaFactory],
  ["the owner validator", ownerValidator],
  ["the validator of contract owners", erc1271OwnerValidator],
  ["the agent's signer module", ECDSA_SIGNER_CONTRACT],
  ["the call policy module", CALL_POLICY_CONTRACT_V0_0_4],
  ["the withdrawal executor", withdrawalExecutor],
  ["Multicall3", multicall3]
]

/**
 * The hash of a code without the addresses that its constructor was given. So the code on a chain is compared as a whole:
 * only one that calls exactly these two contracts becomes the known one.
 */
export const hashWithout = (code: Hex, addresses: ReadonlyArray<Address>): Hex =>
  keccak256(
    addresses.reduce(
      (text, address) => text.replaceAll(pad(address).slice(2).toLowerCase(), "0".repeat(64)),
      code.toLowerCase()
    ) as Hex
  )

/** Names and addresses of what is absent or is not what it should be; empty when the chain has everything. */
export const missingContracts = Effect.fn("missingContracts")(function* ({
  bridge,
  chainId,
  routedSwap,
  router
}: EvmChain) {
  const { request } = yield* EvmClients
  const contracts = [
    ...required,
    ["the Uniswap v2 router", toViem(router)] as const,
    ...(bridge === undefined ? [] : [["the bridge", toViem(bridge)] as const])
  ]
  const codes = yield* Effect.forEach(
    contracts,
    ([, address]) => request(chainId, "eth_getCode", (client) => client.getCode({ address })),
    { concurrency: 4 }
  )
  const missing = contracts.flatMap(([name, address, codeHash], index) => {
    const code = codes[index]
    const isThere = code !== undefined && code !== "0x" && (codeHash === undefined || keccak256(code) === codeHash)
    return isThere ? [] : [`${name} (${address})`]
  })
  if (routedSwap === undefined) return missing
  const contract = toViem(routedSwap.contract)
  const target = toViem(routedSwap.target)
  const code = yield* request(chainId, "eth_getCode", (client) => client.getCode({ address: contract }))
  return code !== undefined && hashWithout(code, [target, toViem(router)]) === routedSwapCodeHash
    ? missing
    : [...missing, `RoutedSwap for router ${router} and diamond ${target} (${contract})`]
})
