import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Breakdowns } from "#domain/breakdown/Breakdowns.ts"
import { success } from "#http/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { breakdownRequest } from "#http/v2/asset/breakdownRequest.ts"
import { breakdownView } from "#http/v2/asset/breakdownView.ts"

export const AssetsLive = HttpApiBuilder.group(
  V2,
  "assets",
  Effect.fnUntraced(function* (handlers) {
    const breakdowns = yield* Breakdowns

    return handlers.handleAll({
      breakDownAllocation: ({ payload }) =>
        Effect.map(breakdowns.breakDown(breakdownRequest(payload)), (breakdown) => success(breakdownView(breakdown)))
    })
  })
)
