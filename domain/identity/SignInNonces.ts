/**
 * Nonces of sign-in messages. A nonce contains its own time and a keyed hash over both, so that issuing one stores
 * nothing and requests cannot fill the storage. A used one is stored until its time is over (SessionStore.open).
 */
import { DateTime, Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { isSameSecret } from "#domain/identity/isSameSecret.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { nonceLife } from "#domain/identity/siwe/SignInMessage.ts"
import type { UsedNonce } from "#domain/identity/SessionStore.ts"

const randomBytes = 12
/** Hex digits: random, seconds since the epoch, keyed hash. */
const [randomDigits, timeDigits, hashDigits] = [randomBytes * 2, 10, 32]
const shape = new RegExp(`^[0-9a-f]{${randomDigits + timeDigits + hashDigits}}$`, "u")

const sealOf = (body: string) =>
  Effect.map(KeyHash, ({ hashes }) => {
    const { current, other } = hashes(Redacted.make(`sign-in ${body}`))
    const sealed = (hash: Uint8Array) => Hex.encode(hash).slice(0, hashDigits)
    return { current: sealed(current), other: other === null ? null : sealed(other) }
  })

/** A nonce that cannot be guessed, and until when it may be used. */
export const makeNonce = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const expiresAt = DateTime.addDuration(yield* DateTime.now, nonceLife)
  const seconds = Math.floor(expiresAt.epochMilliseconds / 1_000)
  const body = `${Hex.encode(yield* random.randomBytes(randomBytes))}${seconds.toString(16).padStart(timeDigits, "0")}`
  return { nonce: `${body}${(yield* sealOf(body)).current}`, expiresAt: DateTime.makeUnsafe(seconds * 1_000) }
})

/** The nonce with its time; undefined when it is none of ours or its time is over. */
export const readNonce = Effect.fnUntraced(function* (nonce: string) {
  if (!shape.test(nonce)) return undefined
  const body = nonce.slice(0, randomDigits + timeDigits)
  const { current, other } = yield* sealOf(body)
  const presented = nonce.slice(randomDigits + timeDigits)
  if (!isSameSecret(presented, current) && (other === null || !isSameSecret(presented, other))) return undefined
  const expiresAt = DateTime.makeUnsafe(Number.parseInt(body.slice(randomDigits), 16) * 1_000)
  const isOver = DateTime.isLessThanOrEqualTo(expiresAt, yield* DateTime.now)
  return isOver ? undefined : ({ nonce, expiresAt } satisfies UsedNonce)
})
