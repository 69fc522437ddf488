/** The market-data stream as an Effect `Stream`. */
import { Effect, Stream } from "effect"
import type { TicketTarget } from "#client/Contract.ts"
import { iterate, type StreamFrame, type StreamOptions, StreamRefused } from "#client/stream/follow.ts"

/**
 * Follows one topic of a ticket's target: the asset's or the collection's own. Interrupting it closes the connection.
 */
export const follow = (options: StreamOptions, target: TicketTarget): Stream.Stream<StreamFrame, StreamRefused> =>
  Stream.suspend(() => Stream.fromAsyncIterable(iterate(options, target), (error) => error)).pipe(
    Stream.catch((error) =>
      error instanceof StreamRefused ? Stream.fail(error) : Stream.fromEffect(Effect.die(error))
    )
  )
