/** What holds on EVM chains: an executor on the chain checks what the owner signed, and includes all of it at once. */
import type { Address } from "#domain/values/Caip.ts"
import type { FamilyTerms } from "#domain/chain/Families.ts"

/**
 * Precompiles of every chain, system contracts of BNB and Arbitrum, and the address that "dead" stands for are below
 * it.
 */
const reserved = 0x1_0000n

/** The OP Stack's own contracts: 0x4200…0000 to 0x4200…07ff. */
const predeploys = 0x4200000000000000000000000000000000000000n
const predeployCount = 0x800n

/** Stands for a chain's own coin in many interfaces, and is no account. */
const coinPlaceholder = 0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeen

/** There is no key to these addresses, and no code of theirs gives anything back. */
const lossAt = (address: Address): string | undefined => {
  const value = BigInt(address)
  if (value === 0n) return "is the zero address"
  if (value < reserved || (value >= predeploys && value < predeploys + predeployCount)) {
    return "is an address that the chain reserves for itself"
  }
  return value === coinPlaceholder ? "is the placeholder of the chain's coin" : undefined
}

export const evmTerms: FamilyTerms = {
  chains: "EVM chains",
  notOffered: {},
  enrollment: "permissions",
  withdrawalForm: "typed-data",
  textSigning: "personal-sign",
  sellsWithinWithdrawal: true,
  quotesAllPools: true,
  maxWithdrawnAssets: null,
  landingSeconds: 0,
  lossAt
}
