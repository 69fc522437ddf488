/** The address of an owner on any supported network: EVM (EIP-55) or Solana (base58), without a chain. */
import { Address } from "#domain/values/Caip.ts"

export const OwnerAddress = Address
export type OwnerAddress = Address
