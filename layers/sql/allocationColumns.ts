/** The columns in which a strategy's targets and swap preferences are stored, read by more than one store. */
import { Schema } from "effect"
import { type AssetId, patterns } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { fromText } from "#domain/values/fromText.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"
import type { SwapSources } from "#domain/strategy/resolveSwap.ts"
import { storableJson } from "#layers/sql/storable.ts"

/**
 * An asset id that a store has written, so in its canonical spelling: the form is enough. Hashing every address of a
 * page again for its checksum would cost ten times the query.
 */
const StoredAssetId = Schema.String.check(
  Schema.isPattern(new RegExp(`${patterns.erc20Asset.source}|${patterns.splAsset.source}`, "u"))
) as unknown as Schema.Codec<AssetId, string>

/** Target weights as JSON: `[{assetId, weight}]`, weights in basis points. */
export const AllocationColumn = Schema.Array(Schema.Struct({ assetId: StoredAssetId, weight: Schema.Int }))

/** Writes an allocation as a parameter for `::jsonb`. */
export const encodeAllocation = (allocation: Allocation): string =>
  storableJson(allocation.map(({ assetId, weight }) => ({ assetId, weight })))

/** A `numeric(48, 18)` column, or any numeric one, as wad. */
export const Wad = fromText(Schema.BigInt, {
  expected: "a numeric column with 18 decimal places",
  pattern: /^-?[0-9]{1,60}(\.[0-9]{1,60})?$/,
  example: "5.000000000000000000",
  parse: Decimal.parse,
  format: (value) => Decimal.format(value, 18)
})

/** Fields of a row that contains swap preferences. */
export const SwapPreferencesColumns = {
  slippageBps: Schema.NullOr(Schema.Int),
  priceImpactBps: Schema.NullOr(Schema.Int),
  thresholdUsd: Schema.NullOr(Wad)
}

/** The swap preferences of a row. */
export const swapPreferencesOf = ({ slippageBps, priceImpactBps, thresholdUsd }: SwapPreferences): SwapPreferences => ({
  slippageBps,
  priceImpactBps,
  thresholdUsd
})

/**
 * Columns of a portfolio's tenant, and of what that tenant accepted of another one's strategy, beside the strategy's
 * own.
 */
export const SwapSourcesColumns = {
  ...SwapPreferencesColumns,
  tenantSlippageBps: SwapPreferencesColumns.slippageBps,
  tenantPriceImpactBps: SwapPreferencesColumns.priceImpactBps,
  tenantThresholdUsd: SwapPreferencesColumns.thresholdUsd,
  isMirrored: Schema.Boolean,
  acceptedSlippageBps: SwapPreferencesColumns.slippageBps,
  acceptedPriceImpactBps: SwapPreferencesColumns.priceImpactBps,
  acceptedThresholdUsd: SwapPreferencesColumns.thresholdUsd
}

/** What a query over strategies `s`, tenants `t` and terms `m` selects to read them. */
export const selectSwapSources = `
  s.slippage_bps AS "slippageBps", s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd",
  t.slippage_bps AS "tenantSlippageBps", t.price_impact_bps AS "tenantPriceImpactBps",
  t.threshold_usd AS "tenantThresholdUsd", s.tenant_id <> t.tenant_id AS "isMirrored",
  m.slippage_bps AS "acceptedSlippageBps", m.price_impact_bps AS "acceptedPriceImpactBps",
  m.threshold_usd AS "acceptedThresholdUsd"`

/** What a query over portfolios `p` joins for it. */
export const joinSwapSources = `
  JOIN strategies s ON s.strategy_id = p.strategy_id
  JOIN tenants t ON t.tenant_id = p.tenant_id
  LEFT JOIN mirror_terms m ON m.strategy_id = p.strategy_id AND m.tenant_id = p.tenant_id`

const SwapSourcesRow = Schema.Struct(SwapSourcesColumns)

export const swapSourcesOf = (row: typeof SwapSourcesRow.Type): SwapSources => ({
  strategy: swapPreferencesOf(row),
  tenant: {
    slippageBps: row.tenantSlippageBps,
    priceImpactBps: row.tenantPriceImpactBps,
    thresholdUsd: row.tenantThresholdUsd
  },
  accepted: row.isMirrored
    ? {
        slippageBps: row.acceptedSlippageBps,
        priceImpactBps: row.acceptedPriceImpactBps,
        thresholdUsd: row.acceptedThresholdUsd
      }
    : null
})
