/** Swap fees on the wire, of a tenant or of a strategy. Source: shapes 2.13 and 2.14. */
import { Schema } from "effect"

const fee = "The integrator's fee on each swap, in basis points of what the swap yields (0 to 300)"

export const SwapFees = Schema.Struct({
  swapBps: Schema.NullOr(Schema.Int).annotate({ description: `${fee}; null: not set.`, examples: [25] })
}).annotate({ identifier: "SwapFees", description: "The swap-fee configuration." })

/** The body of both updates. */
export const SwapFeesPatch = Schema.Struct({
  swapBps: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 }))).annotate({
      description: `${fee}; null clears it, left out keeps it.`,
      examples: [25]
    })
  )
}).annotate({ identifier: "SwapFeesPatch", description: "A merge patch (RFC 7396)." })
