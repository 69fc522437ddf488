import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Policies } from "#domain/policy/Policies.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { policyView } from "#http/portfolio/policyView.ts"

export const PolicyLive = HttpApiBuilder.group(
  V2,
  "policy",
  Effect.fnUntraced(function* (handlers) {
    const policies = yield* Policies

    return handlers.handleAll({
      getPolicy: ({ params }) =>
        Effect.map(policies.get(params.portfolioId), (accounts) => success(policyView(params.portfolioId, accounts)))
    })
  })
).pipe(buildGroup(Policies))
