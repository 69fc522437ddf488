/** What holds on EVM chains: an executor on the chain checks what the owner signed, and carries all of it at once. */
import type { FamilyTerms } from "#domain/chain/Families.ts"

export const evmTerms: FamilyTerms = {
  chains: "EVM chains",
  notOffered: {},
  enrollment: "permissions",
  withdrawalForm: "typed-data",
  textSigning: "personal-sign",
  sellsWithinWithdrawal: true,
  maxWithdrawnAssets: null,
  landingSeconds: 0
}
