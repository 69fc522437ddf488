/**
 * AES-256-GCM under a key that is derived from the deployment's pepper, which is thus the one secret that it must keep.
 * Layout: one byte of version, 12 of nonce, 16 of tag, and the encrypted bytes. The label is authenticated with them.
 * Source: RFC 5869 (HKDF), NIST SP 800-38D (random nonces of 96 bits; at most 2^32 under one key).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"

const algorithm = "aes-256-gcm"
const version = 1
const nonceEnd = 13
const tagEnd = 29

export const SecretBoxLive = Layer.effect(
  SecretBox,
  Effect.map(KeyHashConfig, ({ pepper }) => {
    const key = Buffer.from(hkdfSync("sha256", Redacted.value(pepper), "", "ballast secret box 1", 32))

    return SecretBox.of({
      seal: (label, plain) => {
        const nonce = randomBytes(nonceEnd - 1)
        const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(label, "utf8"))
        const sealed = Buffer.concat([cipher.update(Redacted.value(plain)), cipher.final()])
        return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), sealed])
      },
      open: (label, sealed) => {
        if (sealed.length < tagEnd || sealed[0] !== version) return Option.none()
        const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, nonceEnd), { authTagLength: 16 })
          .setAAD(Buffer.from(label, "utf8"))
          .setAuthTag(sealed.subarray(nonceEnd, tagEnd))
        try {
          const plain = Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()])
          return Option.some(Redacted.make(new Uint8Array(plain)))
        } catch {
          return Option.none()
        }
      }
    })
  })
)
