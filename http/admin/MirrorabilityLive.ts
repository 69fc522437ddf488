import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Mirrorability, type OwnerMirrored } from "#domain/strategy/Mirrorability.ts"
import { Admin } from "#http/admin/Admin.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"

const ownerView = ({ alreadySet, ownedCount, skippedPrivateCount, updated, ...change }: OwnerMirrored) => ({
  ...change,
  totalOwnedBlueprintCount: ownedCount,
  eligiblePublicBlueprintCount: ownedCount - skippedPrivateCount,
  skippedPrivateBlueprintCount: skippedPrivateCount,
  alreadyInDesiredStateBlueprintIds: alreadySet,
  updatedBlueprintIds: updated,
  legacySyncFailedBlueprintIds: []
})

export const MirrorabilityLive = HttpApiBuilder.group(
  Admin,
  "mirrorability",
  Effect.fnUntraced(function* (handlers) {
    const mirrorability = yield* Mirrorability

    return handlers.handleAll({
      setOfPortfolio: ({ params: { portfolioId }, payload }) =>
        Effect.flatMap(mirrorability.setOfPortfolio(portfolioId, payload), (set) => successV1({ ...set, portfolioId })),
      setMirrorable: ({ params: { blueprintId }, payload }) =>
        Effect.flatMap(mirrorability.set(blueprintId, payload), successV1),
      setOfOperator: ({ payload }) =>
        Effect.flatMap(mirrorability.setOfOperator(payload), (set) => successV1(ownerView(set))),
      setOfOwner: ({ params: { ownerAddress }, payload }) =>
        Effect.flatMap(mirrorability.setOfOwner(ownerAddress, payload), (set) => successV1(ownerView(set)))
    })
  })
)
