import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { MirrorTerms } from "#domain/strategy/MirrorTerms.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { mirrorTermsView } from "#http/v2/strategy/mirrorTermsView.ts"

export const MirrorTermsLive = HttpApiBuilder.group(
  V2,
  "mirrorTerms",
  Effect.fnUntraced(function* (handlers) {
    const terms = yield* MirrorTerms

    return handlers.handleAll({
      getMirrorTerms: ({ params: { strategyId } }) =>
        Effect.map(terms.get(strategyId), (found) => success(mirrorTermsView(strategyId, found))),
      acceptMirrorTerms: ({ params: { strategyId }, payload: { preferences, schedule } }) =>
        Effect.map(terms.accept(strategyId, { frequency: schedule.frequency, swap: preferences.swap }), (accepted) =>
          success(mirrorTermsView(strategyId, accepted))
        )
    })
  })
).pipe(buildGroup(MirrorTerms))
