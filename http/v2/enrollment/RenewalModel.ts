/** Stage 1 of signing anew, on the wire. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import { chainIds, Terms } from "#http/v2/enrollment/EnrollmentModel.ts"

/** The body of stage 1. */
export const RenewalDraft = Schema.Struct({
  chainIds: Schema.optionalKey(
    chainIds.annotate({
      description: "Chains of the portfolio, none twice; all of them when left out.",
      examples: [[ChainId.make(8453)]]
    })
  ),
  terms: Schema.optionalKey(
    Terms.annotate({
      identifier: "RenewalTerms",
      description: "Permission; left out: the one that counts on each chain."
    })
  )
}).annotate({ identifier: "RenewalDraft", description: "Chains for which the owner is to sign anew." })
