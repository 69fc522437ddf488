/** The refusal of a signature that is not the owner's. Nothing is stored: the flow stays open for the right one. */
import type { AccountType } from "#domain/account/Authorization.ts"
import { ValidationFailed } from "#domain/Errors.ts"

export const signatureRefused = (accountType: AccountType): ValidationFailed =>
  new ValidationFailed(
    accountType === "ERC1271"
      ? {
          message:
            "The owner's contract does not accept the signature; sign message.typedData of stage 1 with EIP-712 and send it again",
          details: ["signature: refused by isValidSignature of ownerAccountId"]
        }
      : {
          message:
            "The signature is not the owner's; sign the raw 32 bytes of stage 1 with EIP-191 and send them again",
          details: ["signature: does not recover to ownerAccountId"]
        }
  )
