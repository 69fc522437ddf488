/**
 * What starts a rebalance beside the calendar: drift out of bands. Off where a strategy has none. An extension of the
 * interface: docs/decisions/0190-drift-triggers.md.
 */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"
import { integer, names } from "#domain/mandate/RebalancePolicy.ts"

/** How far an asset may be from its target, to either side. */
export const DriftBand = Schema.Struct({
  kind: Schema.Literals(["absolute", "relative"]).annotate({
    description: "`absolute`: of the portfolio's value, so 500 is 5 percentage points. `relative`: of the target.",
    examples: ["absolute"]
  }),
  width: integer(1, 10_000, "How far an asset may be from its target, to either side, in basis points")
}).annotate({
  identifier: "DriftBand",
  description: "How far an asset may be from its target before a rebalance is started.",
  examples: [{ kind: "absolute", width: 500 }]
})
export type DriftBand = typeof DriftBand.Type

export const DriftBands = Schema.Struct({
  band: DriftBand,
  overrides: Schema.optionalKey(
    Schema.Array(Schema.Struct({ assetId: AssetId, band: DriftBand }))
      .check(Schema.isMaxLength(50, { expected: "at most 50 assets" }), names)
      .annotate({ description: "Bands of single assets; each asset once." })
  )
}).annotate({
  identifier: "DriftBands",
  description: "The band of every asset, and those of single ones."
})
export type DriftBands = typeof DriftBands.Type

export const StrategyTriggers = Schema.Struct({ drift: DriftBands }).annotate({
  identifier: "StrategyTriggers",
  description:
    "What starts a rebalance beside the schedule. `drift`: an asset leaves its band; it starts one run, and no other one until that has traded all there was to trade, or every asset has come back to nine tenths of its band.",
  examples: [{ drift: { band: { kind: "absolute", width: 500 } } }]
})
export type StrategyTriggers = typeof StrategyTriggers.Type
