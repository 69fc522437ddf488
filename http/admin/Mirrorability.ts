/** Contract: the operator's switch for mirroring, in the v1 envelope. Source: interface "Internal admin routes". */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { NotFound, PermissionDenied, PortfolioNotFound } from "#http/wireErrors.ts"

/** Any id that could name one: what names none is not found. */
const anyId = (what: string) =>
  Schema.String.check(Schema.isPattern(/^[0-9A-Za-z_]{1,64}$/u, { expected: `the id of a ${what}` }))

const payload = Schema.Struct({ canMirror: Schema.Boolean, isPublic: Schema.optionalKey(Schema.Boolean) })

const mirrored = { blueprintId: Schema.String, canMirror: Schema.Boolean, isPublic: Schema.Boolean }

const OwnerMirrored = Schema.Struct({
  ownerAddress: Schema.String,
  canMirror: Schema.Boolean,
  isPublic: Schema.Boolean,
  totalOwnedBlueprintCount: Schema.Int,
  eligiblePublicBlueprintCount: Schema.Int,
  skippedPrivateBlueprintCount: Schema.Int,
  alreadyInDesiredStateBlueprintIds: Schema.Array(Schema.String),
  updatedBlueprintIds: Schema.Array(Schema.String),
  /** Empty in every answer: when a listing cannot be written the call fails, and nothing is changed. */
  legacySyncFailedBlueprintIds: Schema.Array(Schema.String)
})

export const Mirrorability = HttpApiGroup.make("mirrorability")
  .add(
    HttpApiEndpoint.patch("setOfPortfolio", "/portfolios/:portfolioId/mirrorable", {
      params: { portfolioId: anyId("portfolio") },
      payload,
      success: okV1(Schema.Struct({ ...mirrored, portfolioId: Schema.String })),
      error: [PortfolioNotFound, NotFound, PermissionDenied]
    }),
    // A blueprint is what v2 calls a strategy; the number that the database gave it names it too.
    HttpApiEndpoint.patch("setMirrorable", "/strategy-blueprints/:blueprintId/mirrorable", {
      params: { blueprintId: anyId("blueprint") },
      payload,
      success: okV1(Schema.Struct(mirrored)),
      error: NotFound
    }),
    HttpApiEndpoint.patch("setOfOperator", "/portfolios/mirrorable/glider-owned", {
      payload,
      success: okV1(OwnerMirrored),
      error: NotFound
    }),
    HttpApiEndpoint.patch("setOfOwner", "/portfolios/mirrorable/owners/:ownerAddress", {
      params: { ownerAddress: OwnerAddress },
      payload,
      success: okV1(OwnerMirrored)
    })
  )
  .middleware(RequestErrors)
  .middleware(AdminAuth)
  .middleware(ErrorsV1)
  .middleware(AdminAudit)
  .prefix("/v1/admin")
