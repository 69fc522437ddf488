/**
 * Requests to LI.FI: bounded in number, time and size; tried twice when the failure may pass; and after a 429 none at all
 * for as long as the answer asked.
 */
import { Clock, Context, Duration, Effect, Layer, Option, Redacted, Result, Schema, Semaphore } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import { RoutingUnavailable } from "#domain/routing/Routing.ts"
import { sleepRealTime, withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/market/boundedJson.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"

const concurrentRequests = 8
const answerLimit = Duration.seconds(10)
const retryPause = Duration.millis(500)
const maxBytes = 1024 * 1024
const pauseUnlessTold = Duration.seconds(10)
const longestPause = Duration.minutes(10)

class AttemptFailed extends Schema.TaggedError<AttemptFailed>()("AttemptFailed", {
  reason: Schema.String,
  status: Schema.NullOr(Schema.Int),
  isTransient: Schema.Boolean,
  pause: Schema.NullOr(Schema.Duration)
}) {}

const plain = (reason: string, isTransient: boolean) =>
  new AttemptFailed({ reason, status: null, isTransient, pause: null })

const pauseOf = (headers: Headers.Headers, now: number): Duration.Duration => {
  const asked = Headers.parseRetryAfter(headers["retry-after"] ?? headers["ratelimit-reset"] ?? "")
  return Result.isSuccess(asked)
    ? Duration.min(Headers.retryAfterDelay(asked.success, now), longestPause)
    : pauseUnlessTold
}

const toAttemptFailed = (error: { readonly message: string }, now: number): AttemptFailed => {
  if (!HttpClientError.isHttpClientError(error)) return plain(`LI.FI's answer is not readable: ${error.message}`, false)
  const { reason } = error
  if (reason._tag === "TransportError") return plain("LI.FI cannot be reached", true)
  if (reason._tag !== "StatusCodeError") return plain(error.message, false)
  const { headers, status } = reason.response
  const isRefused = status === 401 || status === 403
  return new AttemptFailed({
    reason: isRefused ? `LI.FI refused the key (${status}); check LIFI_API_KEY` : `LI.FI answered ${status}`,
    status,
    isTransient: status >= 500 || status === 408 || status === 424,
    pause: status === 429 ? pauseOf(headers, now) : null
  })
}

export class LifiClient extends Context.Service<
  LifiClient,
  {
    /** GET of a path below the base, decoded by `schema`; none when LI.FI answers 404. */
    readonly find: <S extends Schema.Constraint & { readonly DecodingServices: never }>(
      path: string,
      params: Record<string, string>,
      schema: S
    ) => Effect.Effect<Option.Option<S["Type"]>, RoutingUnavailable>
  }
>()("ballast/layers/routing/lifi/LifiClient") {
  static readonly layer = Layer.effect(
    LifiClient,
    Effect.gen(function* () {
      const { apiKey, baseUrl, integrator } = yield* LifiConfig
      const http = yield* HttpClient.HttpClient
      const permits = yield* Semaphore.make(concurrentRequests)
      const headers = {
        "x-lifi-integrator": integrator,
        ...(apiKey === null ? {} : { "x-lifi-api-key": Redacted.value(apiKey) })
      }
      let pausedUntil = 0

      const attempt = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
        request: HttpClientRequest.HttpClientRequest,
        schema: S
      ) =>
        http.execute(request).pipe(
          Effect.flatMap(HttpClientResponse.filterStatusOk),
          Effect.flatMap(boundedJson(schema, maxBytes)),
          Effect.catch((error) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(toAttemptFailed(error, now)))
          ),
          withinRealTime(answerLimit, () => plain(`LI.FI did not answer in ${Duration.format(answerLimit)}`, true)),
          // A redirect would carry the key to another host.
          Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
          Effect.provideService(HttpClient.TracerPropagationEnabled, false)
        )

      const find = Effect.fn("LifiClient.find")(function* <
        S extends Schema.Constraint & { readonly DecodingServices: never }
      >(path: string, params: Record<string, string>, schema: S) {
        if (baseUrl === null) {
          return yield* new RoutingUnavailable({ reason: "No routing provider is configured; set LIFI_URL" })
        }
        const wait = pausedUntil - (yield* Clock.currentTimeMillis)
        if (wait > 0) {
          const seconds = Math.ceil(wait / 1000)
          return yield* new RoutingUnavailable({
            reason: `LI.FI's rate limit is reached; the next request goes out in ${seconds} s`
          })
        }
        const request = HttpClientRequest.get(`${baseUrl}${path}`, { headers, urlParams: params, acceptJson: true })
        return yield* attempt(request, schema).pipe(
          Effect.catchIf(
            ({ isTransient }) => isTransient,
            () => Effect.andThen(sleepRealTime(retryPause), attempt(request, schema))
          ),
          Effect.asSome,
          Effect.catch(
            Effect.fnUntraced(function* ({ pause, reason, status }) {
              if (status === 404) return Option.none()
              if (pause !== null) pausedUntil = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause)
              return yield* new RoutingUnavailable({ reason })
            })
          )
        )
      }, permits.withPermit)

      return LifiClient.of({ find })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
