/** The two stages of adding chains to a portfolio, on the wire. Source: shapes A. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import { chainIds, issued, OwnerSignature } from "#http/v2/enrollment/EnrollmentModel.ts"

const added = chainIds.annotate({
  description:
    "The chains that the portfolio should get, none twice. Those that are active already are ignored, but for those on which a rebalance waits for a new signature.",
  examples: [[ChainId.make(42161)]]
})

/** The body of stage 1. */
export const ActivationDraft = Schema.Struct({ chainIds: added }).annotate({
  identifier: "ActivationDraft",
  description: "What the owner is to authorize."
})

/** The body of stage 2. */
export const ActivationBody = Schema.Struct({
  ...issued,
  chainIds: added.annotate({
    description: "The chains of stage 1, in the same order.",
    examples: [[ChainId.make(42161)]]
  }),
  signature: OwnerSignature
}).annotate({ identifier: "ActivationBody", description: "The values of stage 1 and the owner's signature." })
