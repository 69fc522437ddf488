/** ECDSA signatures as wallets give them, brought to the one form that `ecrecover` on chain accepts. */
import { type Hex, isHex, parseSignature, recoverMessageAddress, serializeSignature, size } from "viem"

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

/** The address whose EIP-191 signature over the 32 bytes this is; undefined when it is nobody's. */
export const signerOf = (root: Hex, signature: string): Promise<string | undefined> => {
  const canonical = canonicalSignature(signature)
  if (canonical === undefined) return Promise.resolve(undefined)
  return recoverMessageAddress({ message: { raw: root }, signature: canonical }).catch(() => undefined)
}
