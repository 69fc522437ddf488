/** Turns the domain's addresses into viem's and back: one EIP-55 text under two types. */
import { type Address, getAddress } from "viem"
import type { AgentPolicy, ChainAuthorization } from "#domain/account/Authorization.ts"
import {
  type AccountId,
  addressOf as addressInside,
  type Address as AnyAddress,
  type AssetId,
  type EvmAddress,
  type WalletId
} from "#domain/values/Caip.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"

/**
 * The address as one of an EVM chain. Adapters are chosen by the family of their input, so another one here is a fault
 * of the service, and a defect.
 */
export const toEvm = (address: AnyAddress): EvmAddress => {
  if (!address.startsWith("0x")) throw new Error(`${address} is no address of an EVM chain, and its adapter was called`)
  return address as EvmAddress
}

/** What the owner signed of a permission on an EVM chain; one of another family is a defect, as above. */
export const evmPolicy = ({ policy }: Pick<ChainAuthorization, "policy">): AgentPolicy => {
  if (policy._tag === "Solana") throw new Error("A role on Solana is no permission of an EVM chain")
  return policy
}

/** How a swap is made on an EVM chain; one of another family is a defect, as above. */
export const evmExecution = ({ execution }: Pick<ReadySwap, "execution">) => {
  if (execution._tag === "Solana") throw new Error("A swap on Solana is made by no call of an EVM chain")
  return execution
}

/** The address inside an identifier of an EVM chain. */
export const addressOf = (id: WalletId | AccountId | AssetId): EvmAddress => toEvm(addressInside(id))

/** The addresses of at least one asset. */
export const addressesOf = ([first, ...others]: readonly [AssetId, ...ReadonlyArray<AssetId>]) =>
  [addressOf(first), ...others.map(addressOf)] as const

export const toViem = (address: AnyAddress) => toEvm(address) as string as Address

/** The canonical EIP-55 spelling of an address that a chain or a library gave. */
export const fromViem = (address: Address) => getAddress(address) as string as EvmAddress
