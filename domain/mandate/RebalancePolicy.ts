/**
 * Rules by which a strategy's portfolios are worth a trade, and how far they are traded. An extension of the interface:
 * docs/decisions/0140-rebalance-policies.md. Without a policy every deviation of `thresholdUsd` is traded to the
 * target.
 */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"
import { UsdFromString } from "#domain/values/Decimal.ts"

/** A whole number of a range, which the document shows. */
export const integer = (minimum: number, maximum: number, what: string) =>
  Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { expected: `a whole number from ${minimum} to ${maximum}` })
  ).annotate({
    description: `${what} (${minimum} to ${maximum}).`,
    examples: [Math.min(maximum, Math.max(minimum, 100))]
  })

/** The coefficient of half the variance that an automatic band assumes, and the greatest that may be set. */
export const defaultRiskAversion = 10
export const maxRiskAversion = 1_000_000

const BandKind = Schema.Literals(["absolute", "relative", "auto"]).annotate({
  description:
    "`absolute`: of the portfolio's value. `relative`: of the target. `auto`: the width at which trading costs what the drift does, from cost and risk aversion.",
  examples: ["relative"]
})

/** A width belongs to a fixed band, a risk aversion to an automatic one. */
const isOfItsKind = Schema.makeFilter(
  ({ kind, riskAversion, width }: { readonly kind: string; readonly riskAversion?: number; readonly width?: number }) =>
    kind === "auto"
      ? width === undefined
        ? undefined
        : { path: ["width"], issue: "Expected no width with kind auto, which finds its own" }
      : width === undefined
        ? { path: ["width"], issue: `Expected a whole number from 1 to 10000 with kind ${kind}` }
        : riskAversion === undefined
          ? undefined
          : { path: ["riskAversion"], issue: `Expected no risk aversion with kind ${kind}, whose width says it` }
)

/** How far an asset may be from its target. */
export const Band = Schema.Struct({
  kind: BandKind,
  width: Schema.optionalKey(
    integer(1, 10_000, "How far an asset may be from its target, to either side, in basis points")
  ),
  riskAversion: Schema.optionalKey(
    integer(1, maxRiskAversion, "How much drift is minded, as the coefficient of half the variance; 10 when left out")
  )
})
  .check(isOfItsKind)
  .annotate({
    description: "How far an asset may be from its target before it is traded.",
    examples: [{ kind: "relative", width: 1_000 }, { kind: "auto" }]
  })
export type Band = typeof Band.Type

/** Each asset is named once. */
export const names = Schema.makeFilter((overrides: ReadonlyArray<{ readonly assetId: AssetId }>) => {
  const seen = new Set<AssetId>()
  for (const [index, { assetId }] of overrides.entries()) {
    if (seen.has(assetId))
      return { path: [index, "assetId"], issue: `Expected each asset once, ${assetId} is named twice` }
    seen.add(assetId)
  }
  return undefined
})

export const TradeTo = Schema.Literals(["target", "edge", "half"]).annotate({
  description:
    "Where an asset outside of its band is traded to: the target, the edge of the band, or half way. Left out: the edge, and for `auto` whichever costs less.",
  examples: ["edge"]
})
export type TradeTo = typeof TradeTo.Type

export const RebalancePolicy = Schema.Struct({
  band: Band,
  overrides: Schema.optionalKey(
    Schema.Array(Schema.Struct({ assetId: AssetId, band: Band }))
      .check(Schema.isMaxLength(50, { expected: "at most 50 assets" }), names)
      .annotate({ description: "Bands of single assets; each asset once." })
  ),
  tradeTo: Schema.optionalKey(TradeTo),
  minTrade: Schema.optionalKey(
    Schema.Struct({
      usd: Schema.optionalKey(UsdFromString),
      gasMultiple: Schema.optionalKey(integer(1, 1_000, "How many times the gas of a swap its value must be at least"))
    }).annotate({ description: "Minimum swap, beside `thresholdUsd`." })
  ),
  maxCostBps: Schema.optionalKey(
    Schema.Struct({
      run: Schema.optionalKey(integer(1, 10_000, "Most that one run may cost, in basis points of the portfolio")),
      week: Schema.optionalKey(integer(1, 10_000, "Most that the runs of seven days may cost together"))
    }).annotate({ description: "What rebalancing may cost: fees, price impact, slippage reserve and gas." })
  ),
  cashFlow: Schema.optionalKey(
    Schema.Literals(["flow_first", "whole"]).annotate({
      description:
        "`flow_first` (when left out): what is above its target pays for what is below, and nothing else is sold. `whole`: one asset outside of its band brings all to their targets.",
      examples: ["flow_first"]
    })
  ),
  slicing: Schema.optionalKey(
    Schema.Struct({
      poolShareBps: integer(1, 5_000, "Most that one portfolio sells into a pool in a day, of what the pool holds")
    }).annotate({ description: "Trades what the price impact limit allows at once, and the rest in later runs." })
  )
}).annotate({
  identifier: "RebalancePolicy",
  examples: [{ band: { kind: "auto" }, cashFlow: "flow_first", maxCostBps: { run: 30, week: 50 } }],
  description: "Rules: when drift is worth a trade, how far it is traded, and what that may cost."
})
export type RebalancePolicy = typeof RebalancePolicy.Type
