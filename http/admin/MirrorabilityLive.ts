import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Mirrorability } from "#domain/strategy/Mirrorability.ts"
import { Admin } from "#http/admin/Admin.ts"
import { successV1 } from "#http/admin/envelopeV1.ts"

export const MirrorabilityLive = HttpApiBuilder.group(
  Admin,
  "mirrorability",
  Effect.fnUntraced(function* (handlers) {
    const mirrorability = yield* Mirrorability

    return handlers.handleAll({
      setMirrorable: ({ params: { blueprintId }, payload }) =>
        Effect.flatMap(mirrorability.set(blueprintId, payload), (set) => successV1({ blueprintId, ...set }))
    })
  })
)
