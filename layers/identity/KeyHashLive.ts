/**
 * HMAC-SHA-256 of an API key under the deployment's pepper.
 *
 * A key carries 256 bits of randomness, so a slow password hash would protect nothing and cost every request; the
 * pepper makes a stolen table useless for checking guesses. Source: docs/decisions/0004-api-keys.md, RFC 2104.
 */
import { createHmac, createSecretKey } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"

export const KeyHashLive = Layer.effect(
  KeyHash,
  Effect.map(KeyHashConfig, ({ pepper }) => {
    const key = createSecretKey(Redacted.value(pepper), "utf8")
    return KeyHash.of({ hash: (secret) => createHmac("sha256", key).update(Redacted.value(secret), "utf8").digest() })
  })
)
