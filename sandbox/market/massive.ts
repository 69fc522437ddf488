/**
 * Massive's stocks WebSocket under `/massive/stocks`: statuses, authentication, subscriptions and bars of a second, in
 * the documented shapes, at any hour. A key has one connection; a second one makes the server close the first.
 */
import { Deferred, Duration, Effect, Queue, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Socket } from "effect/socket"
import { Faults } from "#sandbox/faults/Faults.ts"
import { secondBar } from "#sandbox/market/stockMarket.ts"
import { StreamProcess } from "#sandbox/service/StreamProcess.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const Request = Schema.fromJsonString(
  Schema.Struct({ action: Schema.Literals(["auth", "subscribe", "unsubscribe"]), params: Schema.String })
)
const readRequest = Schema.decodeUnknownOption(Request)
const slowness = Duration.seconds(3)
const maxChannels = 5_000

const status = (name: string, message: string) => JSON.stringify([{ ev: "status", status: name, message }])

/** Symbols of `A.` channels. */
const symbolsOf = (params: string): ReadonlyArray<string> =>
  params
    .split(",")
    .map((channel) => /^A\.([A-Z0-9.-]{1,20})$/u.exec(channel.trim())?.[1])
    .filter((symbol) => symbol !== undefined)

interface Connection {
  readonly out: Queue.Queue<string>
  readonly channels: Set<string>
  readonly end: () => void
}

export const massive = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const faults = yield* Faults
    const clock = yield* WorldClock
    const { massiveKey } = yield* StreamProcess
    /** The one connection of the key. */
    let held: Connection | undefined

    const authenticate = (connection: Connection, key: string) => {
      if (key !== massiveKey) {
        Queue.offerUnsafe(connection.out, status("auth_failed", "authentication failed"))
        return connection.end()
      }
      if (held !== undefined && held !== connection) {
        Queue.offerUnsafe(held.out, status("max_connections", "Maximum number of websocket connections exceeded."))
        held.end()
      }
      held = connection
      Queue.offerUnsafe(connection.out, status("auth_success", "authenticated"))
    }

    const obey = (connection: Connection, text: string) => {
      const request = readRequest(text)
      if (request._tag === "None") return
      const { action, params } = request.value
      if (action === "auth") return authenticate(connection, params)
      if (held !== connection) return
      for (const symbol of symbolsOf(params)) {
        if (action === "unsubscribe") {
          connection.channels.delete(symbol)
        } else if (!connection.channels.has(symbol) && connection.channels.size < maxChannels) {
          connection.channels.add(symbol)
          Queue.offerUnsafe(connection.out, status("success", `subscribed to: A.${symbol}`))
        }
      }
    }

    /** Sends the bar of each second that has passed, in one frame for all channels. */
    const trade = (connection: Connection) =>
      Effect.gen(function* () {
        let last = Math.floor((yield* clock.read).now / 1000)
        while (true) {
          yield* Effect.sleep("200 millis")
          const second = Math.floor((yield* clock.read).now / 1000)
          if (second === last || connection.channels.size === 0) continue
          last = second
          const mode = yield* faults.take("massive")
          if (mode === "drop-next") continue
          if (mode !== "ok" && mode !== "slow") return connection.end()
          if (mode === "slow") yield* Effect.sleep(slowness)
          const bars = [...connection.channels].map((symbol) => secondBar(symbol, second - 1))
          yield* Queue.offer(connection.out, JSON.stringify(bars))
        }
      })

    const connect = Effect.gen(function* () {
      const mode = yield* faults.take("massive")
      if (mode === "down" || mode === "error") return HttpServerResponse.empty({ status: 503 })
      const request = yield* HttpServerRequest.HttpServerRequest
      const socket = yield* request.upgrade
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { pull } = yield* socket.reader
          const { write } = yield* socket.writer
          const over = yield* Deferred.make<void>()
          const connection: Connection = {
            out: yield* Queue.sliding<string>(1_000),
            channels: new Set(),
            end: () => Deferred.doneUnsafe(over, Effect.void)
          }
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => {
              if (held === connection) held = undefined
            })
          )
          yield* write(status("connected", "Connected Successfully"))
          const reading = Effect.forever(
            Effect.flatMap(pull, (frames) =>
              Effect.sync(() => {
                for (const frame of frames) if (typeof frame === "string") obey(connection, frame)
              })
            )
          )
          const writing = Effect.forever(Effect.flatMap(Queue.take(connection.out), write))
          const closing = Deferred.await(over).pipe(
            // What was said last goes out before the connection ends.
            Effect.andThen(Effect.sleep("50 millis")),
            Effect.andThen(write(new Socket.CloseEvent(1008, "closed by the provider")))
          )
          yield* Effect.raceFirst(
            Effect.raceFirst(reading, writing),
            Effect.andThen(trade(connection), Effect.never).pipe(Effect.raceFirst(closing))
          )
        })
      ).pipe(Effect.catchTag("SocketError", () => Effect.void))
      return HttpServerResponse.empty()
    })

    yield* router.add("GET", "/massive/stocks", connect)
  })
)
