/** Contract: the operator's switch for mirroring, in the v1 envelope. Source: interface "Internal admin routes". */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { okV1 } from "#http/admin/envelopeV1.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { NotFound } from "#http/wireErrors.ts"

/** Any id that could name one: what names none is not found. */
const blueprintId = Schema.String.check(
  Schema.isPattern(/^[0-9A-Za-z_]{1,64}$/u, { expected: "the id of a blueprint" })
).pipe(Schema.brand("StrategyId"))

export const Mirrorability = HttpApiGroup.make("mirrorability")
  .add(
    // A blueprint is what v2 calls a strategy; this service has no other ids of them.
    HttpApiEndpoint.patch("setMirrorable", "/strategy-blueprints/:blueprintId/mirrorable", {
      params: { blueprintId },
      payload: Schema.Struct({ canMirror: Schema.Boolean, isPublic: Schema.optionalKey(Schema.Boolean) }),
      success: okV1(Schema.Struct({ blueprintId: Schema.String, canMirror: Schema.Boolean, isPublic: Schema.Boolean })),
      error: NotFound
    })
  )
  .middleware(RequestErrors)
  .middleware(AdminAuth)
  .middleware(ErrorsV1)
  .prefix("/v1/admin")
