/**
 * Requests to CoinGecko: bounded in number, time and size; tried twice when the failure may pass; and after a 429 none
 * at all for as long as the answer asked, so that a long Retry-After delays nobody.
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
import { PricesUnavailable } from "#domain/market/Prices.ts"
import { sleepRealTime, withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/market/boundedJson.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"

const concurrentRequests = 4
const answerLimit = Duration.seconds(4)
const retryPause = Duration.millis(250)
const maxBytes = 4 * 1024 * 1024
const pauseUnlessTold = Duration.seconds(10)
const longestPause = Duration.minutes(2)

/** A failed attempt: why, whether another may succeed, and how long the provider wants to be left alone. */
class AttemptFailed extends Schema.TaggedError<AttemptFailed>()("AttemptFailed", {
  reason: Schema.String,
  /** The status of an answer that was refused because of it. */
  status: Schema.NullOr(Schema.Int),
  isTransient: Schema.Boolean,
  pause: Schema.NullOr(Schema.Duration)
}) {}

const describeStatus = (status: number): string =>
  status === 401 || status === 403
    ? `CoinGecko refused the key (${status}); check COINGECKO_API_KEY, and that COINGECKO_URL is the host of COINGECKO_PLAN`
    : `CoinGecko answered ${status}`

const pauseOf = (response: HttpClientResponse.HttpClientResponse, now: number): Duration.Duration => {
  const asked = Headers.parseRetryAfter(response.headers["retry-after"] ?? "")
  return Result.isSuccess(asked)
    ? Duration.min(Headers.retryAfterDelay(asked.success, now), longestPause)
    : pauseUnlessTold
}

const toAttemptFailed = (error: { readonly message: string }, now: number): AttemptFailed => {
  if (!HttpClientError.isHttpClientError(error)) {
    return new AttemptFailed({
      reason: `CoinGecko's answer is not readable: ${error.message}`,
      status: null,
      isTransient: false,
      pause: null
    })
  }
  const { reason } = error
  if (reason._tag === "TransportError") {
    return new AttemptFailed({ reason: "CoinGecko cannot be reached", status: null, isTransient: true, pause: null })
  }
  if (reason._tag !== "StatusCodeError")
    return new AttemptFailed({ reason: error.message, status: null, isTransient: false, pause: null })
  const { response } = reason
  return new AttemptFailed({
    reason: describeStatus(response.status),
    status: response.status,
    isTransient: response.status >= 500 || response.status === 408,
    pause: response.status === 429 ? pauseOf(response, now) : null
  })
}

export class CoinGeckoClient extends Context.Service<
  CoinGeckoClient,
  {
    /** GET of a path below the base, decoded by `schema`. */
    readonly get: <S extends Schema.Constraint & { readonly DecodingServices: never }>(
      path: string,
      params: Record<string, string>,
      schema: S
    ) => Effect.Effect<S["Type"], PricesUnavailable>
    /** The same, for a path that names one thing: none when CoinGecko does not know it. */
    readonly find: <S extends Schema.Constraint & { readonly DecodingServices: never }>(
      path: string,
      params: Record<string, string>,
      schema: S
    ) => Effect.Effect<Option.Option<S["Type"]>, PricesUnavailable>
  }
>()("ballast/layers/market/CoinGeckoClient") {
  static readonly layer = Layer.effect(
    CoinGeckoClient,
    Effect.gen(function* () {
      const { baseUrl, apiKey, plan } = yield* CoinGeckoConfig
      const http = yield* HttpClient.HttpClient
      const permits = yield* Semaphore.make(concurrentRequests)
      const keyHeader = plan === "pro" ? "x-cg-pro-api-key" : "x-cg-demo-api-key"
      const headers = apiKey === null ? {} : { [keyHeader]: Redacted.value(apiKey) }
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
          withinRealTime(
            answerLimit,
            () =>
              new AttemptFailed({
                reason: `CoinGecko did not answer in ${Duration.format(answerLimit)}`,
                status: null,
                isTransient: true,
                pause: null
              })
          ),
          // A redirect would carry the key to another host.
          Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
          Effect.provideService(HttpClient.TracerPropagationEnabled, false)
        )

      const find = Effect.fn("CoinGeckoClient.get")(function* <
        S extends Schema.Constraint & { readonly DecodingServices: never }
      >(path: string, params: Record<string, string>, schema: S) {
        const wait = pausedUntil - (yield* Clock.currentTimeMillis)
        if (wait > 0) {
          return yield* new PricesUnavailable({
            reason: `CoinGecko's rate limit is reached; the next request goes out in ${Math.ceil(wait / 1000)} s`
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
              return yield* new PricesUnavailable({ reason })
            })
          )
        )
      }, permits.withPermit)

      const get = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
        path: string,
        params: Record<string, string>,
        schema: S
      ) =>
        Effect.flatMap(
          find(path, params, schema),
          Option.match({
            onNone: () => Effect.fail(new PricesUnavailable({ reason: describeStatus(404) })),
            onSome: Effect.succeed
          })
        )

      return CoinGeckoClient.of({ get, find })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
