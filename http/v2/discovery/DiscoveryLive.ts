import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Discovery } from "#domain/discovery/Discovery.ts"
import { successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { discoveryView } from "#http/v2/discovery/discoveryView.ts"

export const DiscoveryLive = HttpApiBuilder.group(
  V2,
  "discovery",
  Effect.fnUntraced(function* (handlers) {
    const discovery = yield* Discovery

    return handlers.handleAll({
      discoverStrategies: ({ query }) =>
        Effect.map(discovery.list(query), (page) => successPage({ strategies: page.items.map(discoveryView) }, page))
    })
  })
).pipe(buildGroup(Discovery))
