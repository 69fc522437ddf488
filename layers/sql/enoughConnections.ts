/**
 * Opens at once as many connections as the process will ever have open, and closes them again. A limit of the server,
 * the database or the role that is too small so ends a start before any part of it, instead of failing whichever part
 * asks last, now and then, for as long as the process runs.
 */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import type { Socket } from "node:net"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { serverSocket } from "#layers/sql/serverSocket.ts"
import { connectionsBesidePool, sessionsOf, silence } from "#layers/sql/sessions.ts"

/** A server forks for each of them. */
const openedAtOnce = 5
/** Longest wait for sessions to be gone that were asked to end. */
const longestEnd = Duration.seconds(1)

/** The server closes a connection as the last act of its session, after which it counts no more. */
const closed = (socket: Socket) =>
  Effect.callback<void>((resume) => {
    if (socket.closed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void)).resume()
  })

export const enoughConnections = Effect.gen(function* () {
  const { directUrl = null, maxConnections, url } = yield* DatabaseConfig
  if (url === null) return
  const { apart, pool } = sessionsOf({ directUrl, maxConnections, url }, silence)
  const sockets: Array<Socket> = []
  const session = (config: PgConnection.Config & { readonly url: typeof url }) => {
    const stream = () => {
      const socket = serverSocket(config.url, silence.apart)()
      sockets.push(socket)
      return socket
    }
    return PgConnection.make({ ...config, stream, applicationName: "ballast-start" })
  }
  const all = [
    ...Array.from({ length: maxConnections }, () => session(pool)),
    ...Array.from({ length: connectionsBesidePool }, () => session(apart))
  ]
  yield* Effect.scoped(Effect.all(all, { concurrency: openedAtOnce, discard: true }))
  yield* Effect.raceFirst(Effect.forEach(sockets, closed, { discard: true }), sleepRealTime(longestEnd))
})
