import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Chains } from "#domain/chain/Chains.ts"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { requireOwnerModel } from "#http/v2/enrollment/requireOwnerModel.ts"
import { consentIn, enrolledView, signatureView } from "#http/v2/enrollment/enrollmentView.ts"

export const EnrollmentLive = HttpApiBuilder.group(
  V2,
  "enrollment",
  Effect.fnUntraced(function* (handlers) {
    const enrollments = yield* Enrollments
    const chains = yield* Chains
    const requireModel = (request: Parameters<typeof requireOwnerModel>[0]) =>
      Effect.provideService(requireOwnerModel(request), Chains, chains)

    return handlers.handleAll({
      prepareEnrollment: Effect.fnUntraced(function* ({ payload }) {
        yield* requireModel(payload)
        const flow = yield* enrollments.authorize({ accountType: "ECDSA", ...payload })
        return success(signatureView(flow))
      }),
      enroll: Effect.fnUntraced(function* ({ payload: { accountType = "ECDSA", portfolioName = null, ...request } }) {
        yield* requireModel(request)
        const consent = consentIn(request)
        const enrolled = yield* enrollments.enroll({ ...request, accountType, consent, portfolioName })
        return success(enrolledView(enrolled))
      })
    })
  })
).pipe(buildGroup(Chains, Enrollments))
