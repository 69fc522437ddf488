import { Clock, Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { ExecutionEvent } from "#domain/execution/ExecutionEvent.ts"
import { Executions } from "#domain/execution/Executions.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { agUiEndedFrames, agUiFrames } from "#http/v1/agUi/agUiFrames.ts"
import { V1 } from "#http/v1/Api.ts"
import { endedFrames } from "#http/streaming/ownFrames.ts"
import { type Ending, eventStream, type Frame } from "#http/streaming/eventStream.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { executionFrames } from "#http/v1/executionFrames.ts"

interface Following {
  readonly params: { readonly operationId: OperationId }
  readonly headers: { readonly "last-event-id"?: string | undefined }
}

export const ExecutionsLive = HttpApiBuilder.group(
  V1,
  "executions",
  Effect.fnUntraced(function* (handlers) {
    const executions = yield* Executions
    const closing = yield* ShutdownState
    const timing = yield* StreamTiming
    const clock = yield* Clock.Clock

    const following = (framesOf: (event: ExecutionEvent) => ReadonlyArray<Frame>, lastFramesOf: Ending["framesOf"]) =>
      Effect.fnUntraced(function* ({ headers, params }: Following) {
        const found = yield* executions.follow(params.operationId, headers["last-event-id"])
        if (Option.isNone(found)) return HttpServerResponse.empty({ status: 204 })
        const { events: stream, permit } = found.value
        return yield* eventStream({ stream, framesOf, ending: { permit, framesOf: lastFramesOf } }, closing, timing)
      })

    const agUi = following(agUiFrames, (why) => agUiEndedFrames(why, clock.currentTimeMillisUnsafe()))

    return handlers.handleAll({
      streamExecution: following(executionFrames, endedFrames),
      streamExecutionAgUi: agUi,
      runExecutionAgUi: agUi
    })
  })
)
