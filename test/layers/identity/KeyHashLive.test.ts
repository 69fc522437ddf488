import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Hex } from "effect/encoding"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"

const hashWith = (pepper: string, secret: string) =>
  Effect.map(KeyHash, ({ hash }) => Hex.encode(hash(Redacted.make(secret)))).pipe(
    Effect.provide(KeyHashLive.pipe(Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make(pepper) }))))
  )

describe("KeyHashLive", () => {
  it.effect("is HMAC-SHA-256 (RFC 4231, test case 2)", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* hashWith("Jefe", "what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      )
    })
  )

  it.effect("depends on the pepper", () =>
    Effect.gen(function* () {
      assert.notStrictEqual(yield* hashWith("one", "key"), yield* hashWith("another", "key"))
    })
  )
})
