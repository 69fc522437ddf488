/**
 * AES-256-GCM under a key that is derived from the deployment's pepper, which is thus the one secret that it must keep.
 * While the pepper is exchanged, what is sealed under the other one is opened too.
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

type Plain = Redacted.Redacted<Uint8Array>

const keyOf = (pepper: Redacted.Redacted) =>
  Buffer.from(hkdfSync("sha256", Redacted.value(pepper), "", "ballast secret box 1", 32))

const sealUnder = (key: Buffer, label: string, plain: Plain): Uint8Array => {
  const nonce = randomBytes(nonceEnd - 1)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(label, "utf8"))
  const sealed = Buffer.concat([cipher.update(Redacted.value(plain)), cipher.final()])
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), sealed])
}

const openUnder = (key: Buffer, label: string, sealed: Uint8Array): Option.Option<Plain> => {
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

export const SecretBoxLive = Layer.effect(
  SecretBox,
  Effect.map(KeyHashConfig, ({ other = null, pepper }) => {
    const key = keyOf(pepper)
    const otherKey = other === null ? null : keyOf(other)
    const openOther = (label: string, sealed: Uint8Array) =>
      otherKey === null ? Option.none<Plain>() : openUnder(otherKey, label, sealed)

    return SecretBox.of({
      isExchanging: otherKey !== null,
      seal: (label, plain) => sealUnder(key, label, plain),
      open: (label, sealed) =>
        Option.match(openUnder(key, label, sealed), {
          onNone: () => openOther(label, sealed),
          onSome: Option.some
        }),
      reseal: (label, sealed) => Option.map(openOther(label, sealed), (plain) => sealUnder(key, label, plain))
    })
  })
)
