/** The terms of mirroring on the wire. An extension of the interface: docs/decisions/0086-terms-of-mirroring.md. */
import { Schema } from "effect"
import { MirroredPreferences, swapFields } from "#http/v2/strategy/SwapPreferencesModel.ts"
import { StrategyIdText, timestamp } from "#http/values/values.ts"
import { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"

/** Cadence and swap preferences of a strategy, under a name of their own in the document. */
const termsNamed = (identifier: string, description: string) =>
  Schema.Struct({ schedule: RebalanceSchedule, preferences: MirroredPreferences }).annotate({ identifier, description })

export const MirrorTerms = Schema.Struct({
  strategyId: StrategyIdText,
  offered: termsNamed("MirrorTermsOffered", "What the creator has set now."),
  accepted: termsNamed("MirrorTermsAccepted", "What the tenant accepted last."),
  acceptedAt: timestamp(
    "Time of the first enrollment, or of the last call that accepted terms",
    "2026-03-01T12:00:00.000Z"
  ),
  isCurrent: Schema.Boolean.annotate({
    description:
      "Whether what is offered is what was accepted; false: the creator has changed terms that the tenant has not accepted yet.",
    examples: [true]
  }),
  applied: termsNamed(
    "MirrorTermsApplied",
    "What holds for the tenant's portfolios: the slower cadence; the lowest of what is offered, accepted, set by the tenant and allowed by the service for slippage and price impact; the greater of what was accepted and set by the tenant for the threshold."
  )
}).annotate({ identifier: "MirrorTerms", description: "Terms on which the tenant mirrors a strategy." })

export const AcceptedTerms = Schema.Struct({
  schedule: RebalanceSchedule,
  preferences: Schema.Struct({
    swap: Schema.Struct({
      slippageBps: Schema.requiredKey(swapFields.slippageBps),
      priceImpactBps: Schema.requiredKey(swapFields.priceImpactBps),
      thresholdUsd: Schema.requiredKey(swapFields.thresholdUsd)
    })
  })
}).annotate({ identifier: "AcceptedTerms", description: "The offered terms, sent back as they were read." })
