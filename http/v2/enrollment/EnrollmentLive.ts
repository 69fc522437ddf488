import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Chains } from "#domain/chain/Chains.ts"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { success } from "#http/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { requireEvmRooted } from "#http/v2/enrollment/requireEvmRooted.ts"
import { enrolledView, signatureView } from "#http/v2/enrollment/enrollmentView.ts"

export const EnrollmentLive = HttpApiBuilder.group(
  V2,
  "enrollment",
  Effect.fnUntraced(function* (handlers) {
    const enrollments = yield* Enrollments
    const chains = yield* Chains
    const requireRoot = (request: Parameters<typeof requireEvmRooted>[0]) =>
      Effect.provideService(requireEvmRooted(request), Chains, chains)

    return handlers.handleAll({
      prepareEnrollment: Effect.fnUntraced(function* ({ payload }) {
        const ownerAccountId = yield* requireRoot(payload)
        const flow = yield* enrollments.authorize({ accountType: "ECDSA", ...payload, ownerAccountId })
        return success(signatureView(flow))
      }),
      enroll: Effect.fnUntraced(function* ({ payload: { accountType = "ECDSA", portfolioName = null, ...request } }) {
        const ownerAccountId = yield* requireRoot(request)
        const enrolled = yield* enrollments.enroll({ ...request, accountType, ownerAccountId, portfolioName })
        return success(enrolledView(enrolled))
      })
    })
  })
)
