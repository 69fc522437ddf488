/**
 * A socket that costs no more than its bounds: what waits for its client is at most the budget, and a client that reads
 * none of it within the grace is cut; one that sends nothing for a while, not even a ping, is sent a close frame.
 */
import { Deferred, Duration, Effect, Exit, Metric } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Socket } from "effect/socket"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { StreamTiming } from "#http/streaming/StreamTiming.ts"
import type { SocketPlatform } from "#rpc/native/SocketPlatform.ts"

export const closeCodes = { goingAway: 1001, abnormal: 1006, policyViolation: 1008, tryAgainLater: 1013 } as const

/** A connection that breaks, and a message that is too long, end a socket as a close does: the fault is not ours. */
const ended = (error: Socket.SocketError): Socket.SocketError =>
  error.reason._tag === "SocketCloseError"
    ? error
    : new Socket.SocketError({ reason: new Socket.SocketCloseError({ code: closeCodes.abnormal }) })

/** How often it is checked whether a client has read on. */
const checkInterval = Duration.millis(50)

/** What a socket was opened by. */
interface SocketConnection {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly platform: SocketPlatform["Service"]
}

export const boundedSocket = (
  socket: Socket.Socket,
  { platform, request }: SocketConnection,
  { budget, grace, timeout }: typeof StreamTiming.Service
): Socket.Socket => {
  const isOver = () => platform.waiting(request) > budget

  const cut = Effect.gen(function* () {
    yield* Metric.update(Metrics.streamsCut, 1)
    yield* Effect.logWarning(
      `A socket was cut because its client does not read: ${platform.waiting(request)} bytes wait for it`
    )
    yield* platform.cut(request)
  })

  /** Goes on when the client has read enough; a wait longer than the grace cuts the socket. */
  const room = Effect.gen(function* () {
    const checks = Math.max(1, Math.ceil(Duration.toMillis(grace) / Duration.toMillis(checkInterval)))
    let least = platform.waiting(request)
    for (let left = checks; isOver(); left -= 1) {
      if (left === 0) return yield* cut
      yield* Effect.sleep(checkInterval)
      const waiting = platform.waiting(request)
      if (waiting < least) [least, left] = [waiting, checks]
    }
  })

  // The library's writer waits for ever on a socket that has ended, and so would the call that answers.
  const gone = Deferred.makeUnsafe<void>()
  let isEnded = false
  const end = Effect.sync(() => {
    isEnded = true
    Deferred.doneUnsafe(gone, Exit.void)
  })
  const unlessEnded = (writing: Effect.Effect<void, Socket.SocketError>) =>
    Effect.suspend(() => (isEnded ? Effect.void : writing))

  const writer = Effect.map(socket.writer, ({ write, writeAll }): Socket.Writer => {
    const inTurn = (writing: Effect.Effect<void, Socket.SocketError>) =>
      Effect.suspend(() => {
        if (isEnded) return Effect.void
        if (!isOver()) return writing
        return Effect.raceFirst(Effect.andThen(room, unlessEnded(writing)), Deferred.await(gone))
      })
    return { write: (chunk) => inTurn(write(chunk)), writeAll: (chunks) => inTurn(writeAll(chunks)) }
  })

  const silent = Effect.gen(function* () {
    const closed = new Socket.CloseEvent(closeCodes.goingAway, "nothing came for a while; send pings")
    yield* Effect.scoped(Effect.flatMap(socket.writer, ({ write }) => write(closed)))
    return yield* new Socket.SocketError({ reason: new Socket.SocketCloseError({ code: closeCodes.goingAway }) })
  })

  const reader = Effect.map(
    Effect.tap(socket.reader, () => Effect.addFinalizer(() => end)),
    ({ pull, upgrade }): Socket.Reader => ({
      pull: Effect.timeoutOrElse(Effect.mapError(pull, ended), { duration: timeout, orElse: () => silent }),
      upgrade
    })
  )

  return Socket.make({ reader, writer })
}
