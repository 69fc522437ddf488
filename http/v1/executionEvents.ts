/**
 * Follows an operation from a program or a browser, part of `ballast/client`: a snapshot, then each event once and in
 * order, until its result or error. A connection that ends is opened again after the last event, on whichever process
 * answers.
 *
 * ```ts
 * yield* executionEvents({ baseUrl, apiKey }, operationId).pipe(
 *   Stream.runForEach(({ kind, payload }) => Console.log(kind, payload))
 * )
 * ```
 *
 * Fails with the class of the API error when the key, the session or the operation is refused, and with the last
 * transport error after `maxFailures` attempts in a row that came to nothing. Needs an `HttpClient`.
 */
import { Clock, Duration, Effect, type Redacted, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import type { HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { OperationId } from "#domain/Ids.ts"
import { apiKeyClientLayer, sessionClientLayer } from "#http/apiKeyClientLayer.ts"
import { V1 } from "#http/v1/Api.ts"
import { ExecutionEvent } from "#http/execution/ExecutionEvent.ts"

export interface FollowOptions {
  /** Resumes after this event; `fromTheBeginning` for all, left out for what happens from now on. */
  readonly lastEventId?: string
}

/** An API key, or the token of a wallet session. */
export type Credential =
  | { readonly apiKey: Redacted.Redacted<string>; readonly token?: undefined }
  | { readonly apiKey?: undefined; readonly token: Redacted.Redacted }

/** As `lastEventId`: the whole history. */
export const fromTheBeginning = "0-0"

const maxFailures = 8
const maxPause = Duration.seconds(30)
const maxEventSize = 1_048_576

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(ExecutionEvent))

/** Stands for a stream that by the server has been seen whole. */
const seen = "seen"

const isEnd = (event: ExecutionEvent | typeof seen): boolean =>
  event === seen || event.kind === "execution.result" || event.kind === "execution.error"

/** Transient: no answer, too many requests, or a fault of the service. */
const isTransient = (error: { readonly _tag: string }): boolean =>
  ["HttpClientError", "RateLimited", "Internal"].includes(error._tag)

/** Frames of a body; a `retry` field of the server goes to `onRetry`, with the last id in the stream before it. */
export const framesOf = (
  response: HttpClientResponse.HttpClientResponse,
  onRetry: (pause: Duration.Duration, place: string | undefined) => void
) =>
  Stream.suspend(() => {
    let frames: Array<Sse.Event> = []
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Retry") onRetry(event.duration, event.lastEventId)
        else frames.push(event)
      },
      { maxEventSize }
    )
    return response.stream.pipe(
      Stream.decodeText,
      Stream.mapEffect((text) => {
        frames = []
        const problem = parser.feed(text)
        return problem === undefined ? Effect.succeed(frames) : Effect.fail(problem)
      }),
      Stream.flattenIterable
    )
  })

export const executionEvents = (
  { baseUrl, ...credential }: { readonly baseUrl: string } & Credential,
  operationId: OperationId,
  options: FollowOptions = {}
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const signed =
        credential.token === undefined ? apiKeyClientLayer(credential.apiKey) : sessionClientLayer(credential.token)
      const api = yield* HttpApiClient.make(V1, { baseUrl }).pipe(Effect.provide(signed))
      let { lastEventId } = options
      let sequence = -1
      let pause = Duration.seconds(1)
      let failures = 0
      let connectAt = 0

      /** The server repeats a snapshot on each connection; a follower has its own state by then. */
      const isNews = (event: ExecutionEvent): boolean =>
        event.kind === "execution.snapshot" ? sequence === -1 : event.sequence > sequence

      const note = (event: ExecutionEvent) => {
        sequence = event.sequence
        lastEventId = event.cursor
      }

      const connection = Effect.gen(function* () {
        const [, response] = yield* api.executions.streamExecution({
          params: { operationId },
          headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
          responseMode: "decoded-and-response"
        })
        failures = 0
        if (response.status === 204) return Stream.succeed<ExecutionEvent | typeof seen>(seen)
        return framesOf(response, (wished) => {
          pause = wished
        }).pipe(
          Stream.mapEffect(({ data }) => decodeEvent(data)),
          Stream.filter(isNews),
          Stream.tap((event) => Effect.sync(() => note(event)))
        )
      })

      const untilDue = Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(Math.max(0, connectAt - now)))

      /** When to connect again: later after each failure in a row, and never sooner than the server requires. */
      const plan = (atLeast: Duration.Duration) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const backoff = Duration.min(Duration.times(pause, 2 ** Math.max(0, failures - 1)), maxPause)
          connectAt = now + Duration.toMillis(Duration.max(backoff, atLeast))
        })

      const attempt = Stream.unwrap(connection).pipe(
        Stream.catchIf(isTransient, (error) => {
          failures += 1
          if (failures >= maxFailures) return Stream.fail(error)
          const seconds = error._tag === "RateLimited" ? error.retryAfterSeconds : 0
          return Stream.fromEffectDrain(plan(Duration.seconds(seconds)))
        }),
        Stream.concat(
          Stream.fromEffectDrain(Effect.suspend(() => (failures === 0 ? plan(Duration.zero) : Effect.void)))
        )
      )

      return Stream.forever(Stream.concat(Stream.fromEffectDrain(untilDue), attempt)).pipe(
        Stream.takeUntil(isEnd),
        Stream.filter((event): event is ExecutionEvent => event !== seen)
      )
    })
  )
