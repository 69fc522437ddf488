/**
 * What a workflow waits for: a figure that reaches a level, or a portfolio that drifts out of its bands. Source:
 * interface "Workflow-monitor control routes".
 */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { fromText } from "#domain/values/fromText.ts"
import { maxWindowHours } from "#domain/monitor/CandleChanges.ts"
import { integer } from "#domain/mandate/RebalancePolicy.ts"
import { DriftBands } from "#domain/mandate/StrategyTriggers.ts"

const decimal = (pattern: RegExp, expected: string, example: string) =>
  fromText(Schema.BigInt, {
    expected,
    pattern,
    example,
    parse: (text) => (pattern.test(text) ? Decimal.parse(text) : undefined),
    format: (value) => Decimal.format(value, 18).replace(/\.?0+$/, "")
  })

const Figure = decimal(/^-?[0-9]{1,15}(\.[0-9]{1,18})?$/u, "a decimal number", "2500.5")
const Distance = decimal(/^[0-9]{1,15}(\.[0-9]{1,18})?$/u, "a decimal number that is not negative", "25")

/** Fields of every trigger that watches one figure. */
const level = {
  /** `above`: fires when the figure is at the threshold or beyond it; `below`: at it or under it. */
  comparison: Schema.Literals(["above", "below"]),
  threshold: Figure,
  /** How far the figure has to come back from the threshold before the trigger can fire again. */
  hysteresis: Distance
}

const figure = <Kind extends string, Fields extends Schema.Struct.Fields>(kind: Kind, fields: Fields) =>
  Schema.Struct({ kind: Schema.Literal(kind), ...level, ...fields })

const windowDays = integer(1, 365, "Days of recorded prices over which the change is measured")

const HeldMetric = Schema.Literals(["price_usd", "value_usd", "weight_pct"])
export type HeldMetric = typeof HeldMetric.Type

/**
 * Prices, values and cash are US dollars, shares and changes percent. `account` is what the workflow's portfolio holds
 * in its smart accounts, `cash` the settlement asset of each chain.
 */
export const Trigger = Schema.Union([
  figure("market_price", { assetId: AssetId }),
  /**
   * The change of the recorded daily price over a window of days, or of the closes of candles over one of hours,
   * percent.
   */
  figure("market_candles", {
    assetId: AssetId,
    windowDays: Schema.optionalKey(windowDays),
    windowHours: Schema.optionalKey(
      integer(1, maxWindowHours, "Hours between the closes of two candles over which the change is measured")
    )
  }).check(
    Schema.makeFilter(
      ({ windowDays, windowHours }) =>
        (windowDays === undefined) !== (windowHours === undefined) || "Expected either windowDays or windowHours"
    )
  ),
  /** Pending signatures of the owner and workflows of the portfolio that wait for approval. */
  figure("approval_pending_count", {}),
  /** Cash less what is promised to withdrawals. */
  figure("account_buying_power_usd", {}),
  figure("account_cash_usd", {}),
  figure("portfolio_nav_usd", {}),
  figure("portfolio_cash_pct", {}),
  Schema.Struct({ kind: Schema.Literal("portfolio_drift_from_target"), bands: DriftBands }),
  /** The share of the largest position. */
  figure("portfolio_concentration", {}),
  /** The change of the price of an asset that is held, over a window up to now, percent. */
  figure("portfolio_held_asset_performance", { assetId: AssetId, windowDays }),
  figure("portfolio_held_asset_metrics", { assetId: AssetId, metric: HeldMetric }),
  /**
   * Cost basis and gains of a held asset. The service has no accounting (docs/monitors.md explains it), and the
   * interface allows this kind in notices only: the operator's matcher reports when it matched.
   */
  Schema.Struct({
    kind: Schema.Literal("portfolio_held_asset_accounting_metrics"),
    assetId: AssetId,
    watchKey: Schema.String.check(
      Schema.isPattern(/^[0-9A-Za-z:._-]{1,200}$/u, { expected: "a key without spaces" })
    ).annotate({
      examples: ["cost_basis:ETH"]
    })
  })
])
export type Trigger = typeof Trigger.Type

/** Every kind that the service evaluates by itself, in the interface's order. */
export const EvaluatedKind = Schema.Literals([
  "market_price",
  "market_candles",
  "approval_pending_count",
  "account_buying_power_usd",
  "account_cash_usd",
  "portfolio_nav_usd",
  "portfolio_cash_pct",
  "portfolio_drift_from_target",
  "portfolio_concentration",
  "portfolio_held_asset_performance",
  "portfolio_held_asset_metrics"
])

export const TriggerKind = Schema.Literals([...EvaluatedKind.literals, "portfolio_held_asset_accounting_metrics"])
export type TriggerKind = typeof TriggerKind.Type

/** Level at which a trigger of one figure fires, and at which it may fire again. */
export interface Level {
  readonly comparison: "above" | "below"
  readonly threshold: bigint
  /** Where the figure has to come back to. */
  readonly rearm: bigint
}

/** Drift is measured in widths of the band: at 1 an asset is at its edge, which it may be, and nothing fires. */
const driftLevel: Level = {
  comparison: "above",
  threshold: Decimal.one + 1n,
  rearm: (9n * Decimal.one) / 10n
}

/** Undefined where the service has nothing to measure. */
export const levelOf = (trigger: Trigger): Level | undefined => {
  switch (trigger.kind) {
    case "portfolio_held_asset_accounting_metrics":
      return undefined
    case "portfolio_drift_from_target":
      return driftLevel
    default: {
      const { comparison, hysteresis, threshold } = trigger
      return { comparison, threshold, rearm: comparison === "above" ? threshold - hysteresis : threshold + hysteresis }
    }
  }
}

/** A trigger that matched: by the service's own reading, or as an operator's matcher reports. */
export const TriggerEvent = Schema.Struct({
  kind: TriggerKind,
  watchKey: Schema.optionalKey(Schema.String),
  summary: Schema.String,
  dependencies: Schema.optionalKey(Schema.Array(Schema.String))
})
export type TriggerEvent = typeof TriggerEvent.Type

/** What of a portfolio moves with which assets, for people and for logs. */
export const watchKeyOf = (trigger: Trigger): string => {
  switch (trigger.kind) {
    case "portfolio_held_asset_accounting_metrics":
      return trigger.watchKey
    case "portfolio_held_asset_metrics":
      return `${trigger.kind}:${trigger.assetId}:${trigger.metric}`
    case "market_candles": {
      const window = trigger.windowHours === undefined ? `${trigger.windowDays}d` : `${trigger.windowHours}h`
      return `${trigger.kind}:${trigger.assetId}:${window}`
    }
    case "portfolio_held_asset_performance":
      return `${trigger.kind}:${trigger.assetId}:${trigger.windowDays}d`
    case "market_price":
      return `${trigger.kind}:${trigger.assetId}`
    default:
      return trigger.kind
  }
}
