/** Who passes for the operator. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"

const token = "the-admin-token-of-this-deployment"

const answerTo = (presented: string | undefined, configured: string | null) =>
  Effect.flatMap(OperatorToken, (operator) => operator.require(presented)).pipe(
    Effect.match({ onFailure: ({ _tag }) => _tag as string, onSuccess: () => "passes" }),
    Effect.provide(OperatorToken.layer(configured === null ? null : Redacted.make(configured)))
  )

describe("the operator", () => {
  it.effect("is whoever presents the deployment's token, and nobody else", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* answerTo(token, token), "passes")
      assert.strictEqual(yield* answerTo(undefined, token), "KeyMissing")
      for (const wrong of ["", "x", token.slice(1), `${token} `])
        assert.strictEqual(yield* answerTo(wrong, token), "KeyInvalid")
    })
  )

  it.effect("is nobody while no token is configured", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* answerTo(undefined, null), "KeyMissing")
      for (const presented of ["", token, "null"]) assert.strictEqual(yield* answerTo(presented, null), "KeyInvalid")
    })
  )
})
