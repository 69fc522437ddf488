/** The body of a breakdown as the domain takes it: what was left out has its default. Source: shapes section 5 E. */
import { dimensions } from "#domain/asset/Dimension.ts"
import type { BreakdownRequest, HoldingSubject } from "#domain/breakdown/Breakdown.ts"
import type { BreakdownRequest as Body } from "#http/v2/asset/BreakdownModel.ts"

export const breakdownRequest = (body: Body): BreakdownRequest => ({
  dimensions: body.dimensions ?? dimensions,
  mode: body.multiCategoryMode ?? "primary",
  holdings: body.holdings.map(({ assetCanonicalId = null, caipAssetId = null, symbol = null, weight }) => {
    // The schema has seen to it that exactly one of the two is there.
    const subject = { assetCanonicalId, caipAssetId } as HoldingSubject
    return { ...subject, symbol, weight }
  })
})
