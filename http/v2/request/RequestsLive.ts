import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RefusedRequests, requestOf } from "#domain/request/RefusedRequests.ts"
import type { RefusedRequest } from "#domain/request/RefusedRequestStore.ts"
import { successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"

const view = ({ at, milliseconds, requestId, tenantId: _, ...request }: RefusedRequest) => ({
  ...request,
  requestId: requestOf(requestId),
  at: DateTime.formatIso(at),
  durationMs: milliseconds
})

export const RequestsLive = HttpApiBuilder.group(
  V2,
  "requests",
  Effect.fnUntraced(function* (handlers) {
    const requests = yield* RefusedRequests

    return handlers.handleAll({
      listRefusedRequests: ({ query }) =>
        Effect.map(requests.list(query), (found) => successPage({ requests: found.items.map(view) }, found))
    })
  })
).pipe(buildGroup(RefusedRequests))
