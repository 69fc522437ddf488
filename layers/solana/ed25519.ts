/** Ed25519 as Solana uses it: keys of 32 bytes, signatures of 64. */
import { createPrivateKey, createPublicKey, sign as signBytes, verify as verifyBytes } from "node:crypto"

/** RFC 8410: what stands before the 32 bytes of a key in its DER form. */
const publicPrefix = Buffer.from("302a300506032b6570032100", "hex")
const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex")

/** Whether the key signed the message. Keys and signatures of another length have signed nothing. */
export const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (key.length !== 32 || signature.length !== 64) return false
  try {
    const publicKey = createPublicKey({ key: Buffer.concat([publicPrefix, key]), format: "der", type: "spki" })
    return verifyBytes(null, message, publicKey, signature)
  } catch {
    return false
  }
}

/** Signs by the seed of a key, its first 32 bytes. */
export const sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => {
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" })
  return Uint8Array.from(signBytes(null, message, key))
}

/** The public key of a seed. */
export const publicKeyOf = (seed: Uint8Array): Uint8Array => {
  const key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" })
  return Uint8Array.from(createPublicKey(key).export({ format: "der", type: "spki" }).subarray(publicPrefix.length))
}
