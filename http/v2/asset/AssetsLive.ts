import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import { TradableAssets } from "#domain/listing/TradableAssets.ts"
import { success, successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { assetView } from "#http/v2/asset/assetView.ts"
import { breakdownView } from "#http/v2/asset/breakdownView.ts"
import { dimensions } from "#domain/asset/Dimension.ts"
import type { BreakdownRequest, HoldingSubject } from "#domain/breakdown/Breakdown.ts"
import type { BreakdownRequest as Body } from "#http/v2/asset/BreakdownModel.ts"

/** The body of a breakdown as the domain takes it: what was left out has its default. Source: shapes E. */
const breakdownRequest = (body: Body): BreakdownRequest => ({
  dimensions: body.dimensions ?? dimensions,
  mode: body.multiCategoryMode ?? "primary",
  holdings: body.holdings.map(({ assetCanonicalId = null, caipAssetId = null, symbol = null, weight }) => {
    // The schema has seen to it that exactly one of the two is there.
    const subject = { assetCanonicalId, caipAssetId } as HoldingSubject
    return { ...subject, symbol, weight }
  })
})

export const AssetsLive = HttpApiBuilder.group(
  V2,
  "assets",
  Effect.fnUntraced(function* (handlers) {
    const breakdowns = yield* Breakdowns
    const assets = yield* TradableAssets

    return handlers.handleAll({
      listAssets: ({ query }) =>
        Effect.map(assets.list(query), (found) => successPage({ assets: found.items.map(assetView) }, found)),
      breakDownAllocation: ({ payload }) =>
        Effect.map(breakdowns.breakDown(breakdownRequest(payload)), (breakdown) => success(breakdownView(breakdown)))
    })
  })
).pipe(buildGroup(TradableAssets, Breakdowns))
