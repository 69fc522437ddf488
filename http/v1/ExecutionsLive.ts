import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Executions } from "#domain/execution/Executions.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { V1 } from "#http/v1/Api.ts"
import { eventStream } from "#http/v1/eventStream.ts"
import { StreamTiming } from "#http/v1/StreamTiming.ts"
import { executionView } from "#http/v1/views/executionView.ts"

export const ExecutionsLive = HttpApiBuilder.group(
  V1,
  "executions",
  Effect.fnUntraced(function* (handlers) {
    const executions = yield* Executions
    const closing = yield* ShutdownState
    const pace = yield* StreamTiming

    return handlers.handleAll({
      streamExecution: Effect.fnUntraced(function* ({ headers, params }) {
        const found = yield* executions.follow(params.operationId, headers["last-event-id"])
        if (Option.isNone(found)) return HttpServerResponse.empty({ status: 204 })
        const frames = Stream.map(found.value, (event) => {
          const view = executionView(event)
          return { id: view.cursor, event: view.kind, data: JSON.stringify(view) }
        })
        return yield* eventStream(frames, closing.begun, pace)
      })
    })
  })
)
