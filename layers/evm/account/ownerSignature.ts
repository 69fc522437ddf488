/** Owners' signatures as wallets give them, brought to the one form that is sent to the chain. */
import { type Hex, isHex, parseSignature, recoverMessageAddress, serializeSignature, size } from "viem"
import type { AccountType } from "#domain/account/Authorization.ts"
import { maxSignatureBytes } from "#domain/account/OwnerMessage.ts"

/** Half of secp256k1's order: a canonical `s` is not above it (EIP-2). */
const highestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * 65 bytes `r ++ s ++ v` with `v` 27 or 28 in lower case; some hardware wallets send 0 or 1. Undefined when the text is
 * no such signature.
 */
export const canonicalSignature = (signature: string): Hex | undefined => {
  if (!isHex(signature) || size(signature) !== 65) return undefined
  try {
    const { r, s, yParity } = parseSignature(signature.toLowerCase() as Hex)
    return BigInt(s) > highestS ? undefined : serializeSignature({ r, s, yParity })
  } catch {
    return undefined
  }
}

const wholeBytes = /^0x(?:[0-9a-f]{2})+$/u

/** What a contract wallet made, whatever it means to the wallet; undefined when it is no hex or above the bound. */
const contractSignature = (signature: string): Hex | undefined => {
  const bytes = signature.toLowerCase()
  return wholeBytes.test(bytes) && size(bytes as Hex) <= maxSignatureBytes ? (bytes as Hex) : undefined
}

/** The signature in the form in which the owner's validator takes it; undefined when it is none. */
export const ownerSignature = (accountType: AccountType, signature: string): Hex | undefined =>
  accountType === "ERC1271" ? contractSignature(signature) : canonicalSignature(signature)

/** The address whose EIP-191 signature over 32 bytes, or over a text, this is; undefined when it is of no address. */
export const signerOf = (message: { readonly raw: Hex } | string, signature: string): Promise<string | undefined> => {
  const canonical = canonicalSignature(signature)
  if (canonical === undefined) return Promise.resolve(undefined)
  return recoverMessageAddress({ message, signature: canonical }).catch(() => undefined)
}
