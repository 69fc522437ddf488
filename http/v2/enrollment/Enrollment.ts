/**
 * Contract: enrollment of users in two stages. Source: interface "enroll/signature" and "enroll", shapes 2.15 and 2.16.
 */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import {
  EnrollBody,
  EnrolledPortfolio,
  SignatureIssued,
  SignatureRequest
} from "#http/v2/enrollment/EnrollmentModel.ts"
import { operation } from "#http/openapi/operation.ts"
import {
  PermissionDenied,
  PortfolioExists,
  ReplayInProgress,
  ReplayMismatch,
  VerifierUnavailable,
  ExternalIdTaken
} from "#http/wireErrors.ts"

const prepare = HttpApiEndpoint.post("prepareEnrollment", "/enroll/signature", {
  payload: SignatureRequest,
  success: ok(SignatureIssued),
  error: [PermissionDenied, PortfolioExists, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "prepareEnrollment",
      summary: "Prepare an enrollment (stage 1)",
      description:
        "Issues the message that the user's wallet signs, and a flow that is valid 24 hours. No portfolio is made and no account index reserved. An owner that is a contract (`accountType` `ERC1271`) must be deployed on the one chain that it enrolls on. An owner who is enrolled in the strategy already is refused with `API_202`, whose `details` have the portfolio's id. Solana needs the tenant entitlement `svm_b2b_api`.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

const enroll = HttpApiEndpoint.post("enroll", "/enroll", {
  payload: EnrollBody,
  success: ok(EnrolledPortfolio).pipe(HttpApiSchema.status(201)),
  error: [PermissionDenied, ReplayInProgress, ReplayMismatch, PortfolioExists, ExternalIdTaken, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "enroll",
      summary: "Enroll a user (stage 2)",
      description:
        "Checks the owner's signature and makes the portfolio with its smart accounts and schedule, all or nothing. Idempotent on `flowId`: the same body is answered the same way again, another body is refused. `API_506`: the contract of the owner could not be called; nothing was stored, send the same again.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

export const Enrollment = HttpApiGroup.make("enrollment")
  .annotate(OpenApi.Title, "Enrollment")
  .annotate(OpenApi.Description, "Bringing a user into a strategy with one signature of the user's wallet.")
  .add(prepare, enroll)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
