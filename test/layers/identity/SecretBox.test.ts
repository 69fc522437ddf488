/** What is sealed is opened by the same deployment for the same purpose, whole, and by nobody else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { SecretBoxLive } from "#layers/identity/SecretBoxLive.ts"

const boxUnder = (pepper: string) =>
  SecretBoxLive.pipe(Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make(pepper) })), Layer.fresh)

const plain = new Uint8Array([1, 2, 3, 4, 5])
const opened = (box: SecretBox["Service"], label: string, sealed: Uint8Array) =>
  Option.getOrUndefined(Option.map(box.open(label, sealed), Redacted.value))

describe("SecretBox", () => {
  it.effect("opens what it sealed, under its label alone", () =>
    Effect.gen(function* () {
      const box = yield* SecretBox
      const sealed = box.seal("webhook a", Redacted.make(plain))
      assert.deepStrictEqual(opened(box, "webhook a", sealed), plain)
      assert.isUndefined(opened(box, "webhook b", sealed))
      assert.notDeepEqual(box.seal("webhook a", Redacted.make(plain)), sealed, "each is sealed differently")
      const empty = box.seal("nothing", Redacted.make(new Uint8Array()))
      assert.deepStrictEqual(opened(box, "nothing", empty), new Uint8Array())
      assert.notInclude(String(box.open("webhook a", sealed)), "1,2,3")
    }).pipe(Effect.provide(boxUnder("one pepper")))
  )

  it.effect("does not open what was changed in any byte, cut, or is of another form", () =>
    Effect.gen(function* () {
      const box = yield* SecretBox
      const sealed = box.seal("a", Redacted.make(plain))
      for (let place = 0; place < sealed.length; place += 1) {
        const changed = Uint8Array.from(sealed)
        changed[place]! ^= 1
        assert.isUndefined(opened(box, "a", changed), `byte ${place}`)
        assert.isUndefined(opened(box, "a", sealed.subarray(0, place)), `${place} bytes`)
      }
    }).pipe(Effect.provide(boxUnder("one pepper")))
  )

  it.effect("of another pepper opens nothing", () =>
    Effect.gen(function* () {
      const sealed = Effect.map(SecretBox, (box) => box.seal("a", Redacted.make(plain)))
      const bytes = yield* Effect.provide(sealed, boxUnder("one pepper"))
      const again = yield* Effect.provide(SecretBox, boxUnder("one pepper"))
      assert.deepStrictEqual(opened(again, "a", bytes), plain, "by another process of the deployment")
      assert.isUndefined(opened(yield* Effect.provide(SecretBox, boxUnder("another pepper")), "a", bytes))
    })
  )
})
