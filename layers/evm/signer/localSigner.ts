/** A key that this process holds, opened for the moment of a signature; nothing keeps what was opened. */
import { Effect, Redacted } from "effect"
import { signRecoverable } from "tiny-secp256k1"
import type { Hex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { Signer } from "#domain/relay/Signer.ts"
import { fromViem } from "#layers/evm/address.ts"

/** Throws when the text is not 32 bytes in hex. */
const bytesOf = (text: string): Buffer => {
  const bytes = Buffer.from(text.slice(2), "hex")
  if (bytes.length !== 32 || text.length !== 66) throw new Error("Expected 32 bytes in hex")
  return bytes
}

/** The address of a key of 32 bytes in hex. */
export const addressOfKey = (key: Redacted.Redacted): EvmAddress =>
  fromViem(privateKeyToAddress(Redacted.value(key) as Hex))

export const localSigner = (key: Redacted.Redacted): Signer => ({
  address: addressOfKey(key),
  sign: (digest) =>
    Effect.sync(() => {
      const opened = bytesOf(Redacted.value(key))
      try {
        const { recoveryId, signature } = signRecoverable(bytesOf(digest), opened)
        return `0x${Buffer.from(signature).toString("hex")}${(27 + recoveryId).toString(16)}`
      } finally {
        opened.fill(0)
      }
    })
})
