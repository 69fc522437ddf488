import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Curation } from "#domain/discovery/Curation.ts"
import { Admin } from "#http/admin/Admin.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"

export const CurationLive = HttpApiBuilder.group(
  Admin,
  "curation",
  Effect.fnUntraced(function* (handlers) {
    const curation = yield* Curation

    return handlers.handleAll({
      getCurated: () => Effect.flatMap(curation.selection, (strategyIds) => successV1({ strategyIds })),
      setCurated: ({ payload: { strategyIds } }) =>
        Effect.andThen(curation.select(strategyIds), successV1({ strategyIds }))
    })
  })
)
