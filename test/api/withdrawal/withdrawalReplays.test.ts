/** The nonce of a withdrawal as the anchor of idempotency. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { ReplayInProgress, ReplayMismatch } from "#domain/errors/Errors.ts"
import { ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { enrolled, post, rowsOf, signedBody, signMessage } from "#test/api/support/withdrawing.ts"
import { baseUsdc } from "#test/support/assets.ts"

const asset = (assetId: string, amountRaw: unknown) => ({ assetId, amountRaw })

layer(ApiLive, { excludeTestServices: true })("replays of withdrawals", (it) => {
  it.effect("a used nonce answers another body with a conflict", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const body = yield* signedBody(user)
      assert.strictEqual((yield* post(user, "withdraw", body)).status, 202)
      const other = yield* signMessage(user, {
        nonce: body.message.nonce,
        assets: [asset(baseUsdc.assetId, "1")]
      })
      assertError(yield* post(user, "withdraw", other), ReplayMismatch)
      assertError(yield* post(user, "withdraw", { ...body, signature: ownerSignature }), ReplayMismatch)
      // Nonces of tenants do not meet.
      const stranger = yield* enrolled()
      const same = yield* signMessage(stranger, { nonce: body.message.nonce })
      assert.strictEqual((yield* post(stranger, "withdraw", same)).status, 202)
    })
  )

  it.effect("of parallel requests with one body one is carried out", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* enrolled()
      const body = yield* signedBody(user)
      const [entered, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      environment.beforeSignature = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(released))
      const first = yield* Effect.forkChild(post(user, "withdraw", body))
      yield* Deferred.await(entered)
      environment.beforeSignature = Effect.void
      assertError(yield* post(user, "withdraw", body), ReplayInProgress)
      assertError(yield* post(user, "withdraw", { ...body, signature: ownerSignature }), ReplayMismatch)
      yield* Deferred.succeed(released, undefined)
      const accepted = yield* Fiber.join(first)
      assert.strictEqual(accepted.status, 202)
      assert.deepStrictEqual((yield* post(user, "withdraw", body)).json, accepted.json)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), { claims: 1, withdrawals: 1, operations: 1 })
    })
  )

  it.effect("is accepted even when its launch fails: the scheduler launches it", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* enrolled()
      const body = yield* signedBody(user)
      environment.launchDefect = new Error("the engine is starting")
      const answer = yield* post(user, "withdraw", body).pipe(
        Effect.ensuring(Effect.sync(() => (environment.launchDefect = undefined)))
      )
      assert.strictEqual(answer.status, 202)
    })
  )
})
