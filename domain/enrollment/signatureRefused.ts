/** The refusal of a signature that is not the owner's; the flow ends with it. */
import type { AccountType } from "#domain/enrollment/Authorization.ts"
import type { Refused } from "#domain/enrollment/Enrollment.ts"

export const signatureRefused = (accountType: AccountType): Refused => ({
  _tag: "Refused",
  error: "ValidationFailed",
  message:
    accountType === "ERC1271"
      ? "The owner's contract does not accept the signature; start again at stage 1 and sign message.typedData with EIP-712"
      : "The signature is not the owner's; start again at stage 1 and sign the raw 32 bytes with EIP-191",
  details: [
    accountType === "ERC1271"
      ? "signature: refused by isValidSignature of ownerAccountId"
      : "signature: does not recover to ownerAccountId"
  ]
})
