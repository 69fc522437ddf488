import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { describeIssue } from "#http/middleware/describeIssue.ts"

const described = (schema: Schema.Codec<unknown, unknown>, sent: unknown) =>
  Effect.map(Effect.flip(Schema.decodeUnknownEffect(schema)(sent, { errors: "all" })), ({ issue }) =>
    describeIssue(issue).map(({ path, reason }) => `${path.map(String).join(".")}: ${reason}`)
  )

describe("describeIssue", () => {
  it.effect("shows no regular expression, whatever a schema says of itself", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        bare: Schema.String.check(Schema.isPattern(/^[a-z]+$/u)),
        told: Schema.String.check(Schema.isPattern(/^[a-z]+$/u, { expected: "small letters" }))
      })
      assert.deepStrictEqual(yield* described(body, { bare: "7", told: "7" }), [
        "bare: Expected the documented form",
        "told: Expected small letters"
      ])
    })
  )

  it.effect("says in words which types are wrong, missing or too much, and no type expression", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        name: Schema.NullOr(Schema.String),
        kind: Schema.Literals(["a", "b"]),
        items: Schema.Array(Schema.Struct({ size: Schema.Int })),
        isOpen: Schema.Boolean
      })
      const sent = { name: 7, kind: "c", items: [{ size: "x" }, 3] }
      assert.deepStrictEqual(yield* described(body, sent), [
        "name: Expected text or null",
        'kind: Expected "a" or "b"',
        "items.0.size: Expected a whole number",
        "items.1: Expected an object",
        "isOpen: is required"
      ])
    })
  )
})
