/** Between the domain's addresses and viem's: the same EIP-55 text under two types. */
import { type Address, getAddress } from "viem"
import type { EvmAddress } from "#domain/Caip.ts"

export const toViem = (address: EvmAddress) => address as string as Address

/** The canonical EIP-55 spelling of an address that a chain or a library gave. */
export const fromViem = (address: Address) => getAddress(address) as string as EvmAddress
