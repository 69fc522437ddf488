/**
 * Carries out one of concurrent copies of a request; the others are refused with the time to wait. Only successes are
 * kept: a refusal has done nothing, so the key is free again. What has begun is brought to its end even when the client
 * goes away, because that is when it will send the request again.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ReplayInProgress, ReplayMismatch, ValidationFailed } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { IdempotencyKeys, type KeyClaim } from "#domain/identity/IdempotencyKeys.ts"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import { makeClaimId } from "#domain/values/Ids.ts"
import { underClaim } from "#domain/effects/underClaim.ts"
import {
  CommitsWithAnswer,
  Idempotency,
  idempotencyHeader,
  idempotencyKeyPattern
} from "#http/middleware/Idempotency.ts"

type Answer = HttpServerResponse.HttpServerResponse

/** Longer than any request. After it a request whose process died is free to be carried out. */
const claimLength = Duration.seconds(60)

const malformed = new ValidationFailed({
  message: "The Idempotency-Key is not valid; send 1 to 255 visible ASCII characters, such as a UUID",
  details: ["Idempotency-Key: expected 1 to 255 visible ASCII characters"]
})
const inProgress = new ReplayInProgress({
  message: "The request with this Idempotency-Key is still in progress; send it again in 2 seconds"
})
const mismatch = new ReplayMismatch({
  message: "This Idempotency-Key was used with another request; draw a new one for each request"
})

const unreadable = new ReplayMismatch({
  message: "What was answered to this Idempotency-Key can no longer be read; see what was done, and draw a new key"
})

const bytesOf = ({ body }: Answer): Uint8Array | undefined => (body._tag === "Uint8Array" ? body.body : undefined)

export const IdempotencyLive = Layer.effect(
  Idempotency,
  Effect.gen(function* () {
    const keys = yield* IdempotencyKeys
    const box = yield* SecretBox
    const random = yield* SecureRandom.SecureRandom
    const digest = yield* Digest.Digest

    const labelOf = ({ request: { key, route, tenantId } }: KeyClaim) => `answer ${tenantId} ${route} ${key}`

    /** False when another process took the request over, because this one stood still. */
    const keep = (claim: KeyClaim, answer: Answer) => {
      const body = bytesOf(answer)
      return body === undefined
        ? Effect.die(new Error(`An answer of ${claim.request.route} has no bytes that could be given again`))
        : keys.complete(claim, { status: answer.status, body: box.seal(labelOf(claim), Redacted.make(body)) })
    }

    const replayed = (claim: KeyClaim, status: number, sealed: Uint8Array) =>
      Option.match(box.open(labelOf(claim), sealed), {
        // Sealed under a former pepper: what was answered is gone, that it was done is not.
        onNone: () => Effect.fail(unreadable),
        onSome: (body) =>
          Effect.succeed(
            HttpServerResponse.setHeader(
              HttpServerResponse.uint8Array(Redacted.value(body), { status, contentType: "application/json" }),
              "idempotent-replayed",
              "true"
            )
          )
      })

    return Idempotency.of((httpEffect, { endpoint }) => {
      const route = `${endpoint.method} ${endpoint.path}`
      const isAtomic = Context.get(endpoint.annotations, CommitsWithAnswer)
      const handled = httpEffect as Effect.Effect<Answer, Effect.Error<typeof httpEffect>>

      const performed = (claim: KeyClaim) => {
        const whole = handled.pipe(
          Effect.tap((answer) =>
            Effect.flatMap(keep(claim, answer), (isKept) => (isKept ? Effect.void : Effect.fail(inProgress)))
          ),
          keys.atomically
        )
        return (isAtomic ? whole : Effect.tap(handled, (answer) => keep(claim, answer))).pipe(Effect.uninterruptible)
      }

      const named = Effect.fnUntraced(function* (key: string, request: HttpServerRequest.HttpServerRequest) {
        if (!idempotencyKeyPattern.test(key)) return yield* malformed
        const { tenantId } = yield* Effect.map(Effect.context<never>(), (context) =>
          Context.get(context as Context.Context<Caller>, Caller)
        )
        // A body that cannot be read is the endpoint's own to refuse.
        const body = yield* Effect.option(request.text)
        if (Option.isNone(body)) return yield* handled
        const content = new TextEncoder().encode(`${request.url}\n${body.value}`)
        const now = yield* DateTime.now
        const claim: KeyClaim = {
          request: { tenantId, route, key, fingerprint: yield* digest.digest(Digest.sha256, content) },
          claimId: yield* Effect.provideService(makeClaimId, SecureRandom.SecureRandom, random),
          now,
          until: DateTime.addDuration(now, claimLength)
        }
        return yield* underClaim({ claim: keys.claim(claim), release: keys.release(claim) })((state) => {
          switch (state._tag) {
            case "Claimed":
              return performed(claim)
            case "InProgress":
              return Effect.fail(inProgress)
            case "Mismatch":
              return Effect.fail(mismatch)
            case "Answered":
              return replayed(claim, state.answer.status, state.answer.body)
          }
        })
      })

      return Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const key = request.headers[idempotencyHeader]
        return (key === undefined ? handled : named(key, request)) as typeof httpEffect
      })
    })
  })
)
