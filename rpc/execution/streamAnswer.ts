/**
 * A stream on the interface's wire: server-sent events, whose `data` is what the body of an answer would be. What is
 * refused before the first value is answered as every other call; a stream without any value is 204. One that is
 * refused later ends with an event `error`, whose `data` is what the body of the refusal would be.
 */
import { type Cause, Effect, Exit, identity, Pull, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { type DomainError, isDomainError } from "#domain/errors/DomainError.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { eventStream } from "#http/streaming/eventStream.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import type { FrameNames } from "#rpc/execution/streamedProcedure.ts"

export interface StreamAnswer {
  readonly stream: Stream.Stream<unknown, unknown>
  readonly frameOf: (value: unknown) => FrameNames
  /** A value as the text of its frame. */
  readonly write: (value: unknown) => Effect.Effect<string>
  /** An error as the text of its frame. */
  readonly writeError: (error: DomainError) => string
}

/** Fails with the cause for which the stream did not begin. */
export const makeStreamAnswer = Effect.gen(function* () {
  const closing = yield* ShutdownState
  const timing = yield* StreamTiming

  return Effect.fnUntraced(function* ({ frameOf, stream, write, writeError }: StreamAnswer) {
    const pull = yield* Stream.toPull(stream)
    const first = yield* Effect.exit(pull)
    if (Exit.isFailure(first)) {
      if (Pull.isDoneCause(first.cause)) return HttpServerResponse.empty({ status: 204 })
      return yield* Effect.failCause(first.cause as Cause.Cause<unknown>)
    }
    const values = Stream.concat(Stream.fromArray(first.value), Stream.fromPull(Effect.succeed(pull)))
    const frames = Stream.mapEffect(values, (value) =>
      Effect.map(write(value), (data) => [{ ...frameOf(value), data }])
    )
    // Without an id, so that the place of the client stays. What is no error of the API is a fault of the service.
    const whole = Stream.catch(frames, (error) =>
      isDomainError(error) ? Stream.succeed([{ event: "error", data: writeError(error) }]) : Stream.die(error)
    )
    return yield* eventStream({ stream: whole, framesOf: identity }, closing, timing)
  })
})
