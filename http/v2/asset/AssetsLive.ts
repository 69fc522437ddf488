import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import { TradableAssets } from "#domain/listing/TradableAssets.ts"
import { success, successPage } from "#http/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { assetView } from "#http/v2/asset/assetView.ts"
import { breakdownRequest } from "#http/v2/asset/breakdownRequest.ts"
import { breakdownView } from "#http/v2/asset/breakdownView.ts"

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
)
