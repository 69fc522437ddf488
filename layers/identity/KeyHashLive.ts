/**
 * HMAC-SHA-256 of an API key under the deployment's pepper.
 *
 * A key contains 256 bits of randomness, so a slow password hash would protect nothing and cost every request; the
 * pepper makes a stolen table useless for checking guesses. Source: docs/decisions/0004-api-keys.md, RFC 2104.
 */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"

const keyOf = (pepper: Redacted.Redacted) => createSecretKey(Redacted.value(pepper), "utf8")

const hashUnder = (key: KeyObject, secret: Redacted.Redacted<string>) =>
  createHmac("sha256", key).update(Redacted.value(secret), "utf8").digest()

/** 48 bits: enough to distinguish the few peppers of a deployment. */
const nameLength = 12

export const KeyHashLive = Layer.effect(
  KeyHash,
  Effect.map(KeyHashConfig, ({ other = null, pepper }) => {
    const key = keyOf(pepper)
    const otherKey = other === null ? null : keyOf(other)
    return KeyHash.of({
      hash: (secret) => hashUnder(key, secret),
      hashes: (secret) => ({
        current: hashUnder(key, secret),
        other: otherKey === null ? null : hashUnder(otherKey, secret)
      }),
      pepperName: createHmac("sha256", key).update("ballast name of a pepper").digest("hex").slice(0, nameLength)
    })
  })
)
