import { Effect, Option, Stream } from "effect"
import { Rpc } from "effect/rpc"
import { buildWith } from "#domain/effects/buildWith.ts"
import { Executions } from "#domain/execution/Executions.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { executionDetailView, executionEndView, executionHeadView } from "#http/execution/executionReadsView.ts"
import { executionView } from "#http/execution/executionView.ts"
import { ExecutionProcedures } from "#rpc/execution/Executions.ts"

const defaultTimeline = 200

export const ExecutionsLive = ExecutionProcedures.toLayer(
  Effect.gen(function* () {
    const executions = yield* Executions
    const { longest } = yield* StreamTiming

    return {
      "v2.executions.get": ({ operationId }) => Effect.map(executions.get(operationId), executionHeadView),
      "v2.executions.detail": ({ afterSequence = 0, limit = defaultTimeline, operationId }) =>
        Effect.map(executions.timeline(operationId, afterSequence, limit), executionDetailView),
      "v2.executions.result": ({ operationId }) => Effect.map(executions.end(operationId), executionEndView),
      "v2.executions.list": (query) =>
        Effect.map(executions.list(query), ({ items, nextCursor }) => ({
          executions: items.map(executionHeadView),
          nextCursor
        })),
      // Forked: streams are open for long, and would take the places of calls that are answered immediately.
      "v2.executions.stream": ({ lastEventId, operationId }, { headers }) =>
        Rpc.fork(
          Stream.unwrap(
            Effect.map(
              executions.follow(operationId, headers["last-event-id"] ?? lastEventId),
              Option.match({
                onNone: () => Stream.empty,
                onSome: ({ events, permit }) =>
                  Stream.map(events, executionView).pipe(
                    Stream.interruptWhen(Effect.raceFirst(Effect.sleep(longest), permit.ended))
                  )
              })
            )
          )
        )
    }
  })
).pipe(buildWith(Executions, StreamTiming))
