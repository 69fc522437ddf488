/**
 * The world's clock for those that live by it: `GET /clock` answers at once, `GET /clock?after=<version>` when the
 * clock has been moved since that version, or after 25 seconds. A follower gives itself a stable `id`, so that a move
 * can wait for it.
 */
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { badField, refusalResponse } from "#sandbox/control/answers.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const Query = Schema.Struct({
  after: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[0-9]{1,15}$/u))),
  id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(100)))
})

export const clockRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const clock = yield* WorldClock
    yield* router.add(
      "GET",
      "/clock",
      Effect.gen(function* () {
        const { after, id } = yield* HttpServerRequest.schemaSearchParams(Query)
        const reading = after === undefined ? yield* clock.read : yield* clock.poll(Number(after), id)
        return HttpServerResponse.jsonUnsafe(reading)
      }).pipe(
        Effect.catchTag("SchemaError", () =>
          Effect.succeed(
            refusalResponse(badField("after", "Expected a version as GET /clock answers it, and id as a short text"))
          )
        )
      )
    )
  })
)
