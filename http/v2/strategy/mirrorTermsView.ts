/** Terms of mirroring as v2 shows them. */
import { DateTime } from "effect"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { TermsInForce } from "#domain/strategy/MirrorTerms.ts"
import type { Terms } from "#domain/strategy/MirrorTermsStore.ts"
import { swapView } from "#http/v2/strategy/swapView.ts"

const termsView = ({ frequency, swap }: Terms) => ({
  schedule: { type: "interval" as const, frequency },
  preferences: { swap: swapView(swap) }
})

export const mirrorTermsView = (
  strategyId: StrategyId,
  { accepted, acceptedAt, applied, isCurrent, offered }: TermsInForce
) => ({
  strategyId,
  offered: termsView(offered),
  accepted: termsView(accepted),
  acceptedAt: DateTime.formatIso(acceptedAt),
  isCurrent,
  applied: termsView(applied)
})
