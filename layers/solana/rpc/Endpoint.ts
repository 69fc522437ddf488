/**
 * One JSON-RPC endpoint of the Solana chain. It serves nothing before it has proved that it is on the main
 * network: a mixed-up endpoint would show another chain's balances.
 *
 * A redirect is not followed, as it would send the key in the URL to another host. An answer is read up to a size
 * and for a time. Messages never hold the URL.
 */
import { Clock, Duration, Effect, Redacted, Result, Schema } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import { solanaReference } from "#domain/values/Caip.ts"
import { sleepRealTime, withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/provider/boundedJson.ts"
import type { AnswerSchema } from "#layers/provider/makeFind.ts"
import { Envelope } from "#layers/solana/rpc/answers.ts"

/** Time from the request to the last byte of the answer. */
const answerLimit = Duration.seconds(8)
/** Most bytes of one answer: 100 accounts of 10 kB, or the token accounts of one owner. */
const maxAnswerBytes = 8 * 1024 * 1024
const retryPause = Duration.millis(250)
const longestNodeMessage = 200

/**
 * Errors of a node that cannot answer now: it is behind, has no such block yet, or had too many
 * requests.
 */
const passing: ReadonlySet<number> = new Set([429, -32_004, -32_005, -32_014, -32_016])
/** Those of a node that is behind its chain: unhealthy, and not yet at the slot that was asked for. */
const behind: ReadonlySet<number> = new Set([-32_005, -32_016])
/** Longest pause that an endpoint is granted after too many requests. */
const longestPause = Duration.minutes(1)

/** Why a request has no result. */
export interface EndpointFailure {
  readonly reason: string
  /** The node understood and refused: another endpoint would say the same. */
  readonly isAnswer: boolean
  /** True where the request may succeed a moment later. */
  readonly mayPass: boolean
  /** The node is behind its chain; left out where it is not known to be. */
  readonly isBehind?: boolean
  /** Pause that the endpoint asked for; left out where it asked for none. */
  readonly pause?: Duration.Duration
}

export interface Endpoint {
  /** The result of a method, decoded by the schema. */
  readonly call: <S extends AnswerSchema>(
    method: string,
    params: ReadonlyArray<unknown>,
    schema: S
  ) => Effect.Effect<S["Type"], EndpointFailure>
  /** Monotonic nanoseconds until which it is tried after the others. */
  avoidUntil: bigint
}

const silence = (reason: string, mayPass: boolean): EndpointFailure => ({ reason, isAnswer: false, mayPass })

/** A node's message without anything that resembles an address of a host. */
const nodeText = (message: string): string =>
  message.replace(/\b[a-z]+:\/\/\S+/giu, "[endpoint]").slice(0, longestNodeMessage)

const failureOf = (method: string, error: { readonly message: string }, now: number): EndpointFailure => {
  if (!HttpClientError.isHttpClientError(error)) return silence(`${method}: the answer could not be read`, false)
  const { reason } = error
  if (reason._tag !== "StatusCodeError") return silence(`${method}: no connection`, true)
  const { headers, status } = reason.response
  if (status === 401 || status === 403) {
    return silence(`${method}: the endpoint refuses the key in its URL (${status}); correct the URL`, false)
  }
  const failure = silence(`${method}: HTTP status ${status}`, status >= 500 || status === 429 || status === 408)
  const requested = Headers.parseRetryAfter(headers["retry-after"] ?? "")
  return Result.isSuccess(requested)
    ? { ...failure, pause: Duration.min(Headers.retryAfterDelay(requested.success, now), longestPause) }
    : failure
}

/** `retries`: how often a request that may pass is repeated at this endpoint; 0 where another can be used instead. */
export const connect = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, retries: number) {
  const http = yield* HttpClient.HttpClient
  let isVerified = false

  const once = Effect.fnUntraced(function* <S extends AnswerSchema>(
    method: string,
    params: ReadonlyArray<unknown>,
    schema: S
  ) {
    const request = HttpClientRequest.post(Redacted.value(url), { acceptJson: true }).pipe(
      HttpClientRequest.bodyJsonUnsafe({ jsonrpc: "2.0", id: 1, method, params })
    )
    const { error, result } = yield* http.execute(request).pipe(
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(boundedJson(Envelope, maxAnswerBytes)),
      Effect.catch((failure) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(failureOf(method, failure, now)))
      ),
      withinRealTime(answerLimit, () => silence(`${method}: no answer in ${Duration.format(answerLimit)}`, true)),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false)
    )
    if (error !== undefined) {
      const mayPass = passing.has(error.code)
      const reason = `${method}: the node answered error ${error.code}, ${nodeText(error.message)}`
      const failure: EndpointFailure = { reason, isAnswer: !mayPass, mayPass }
      return yield* Effect.fail<EndpointFailure>(behind.has(error.code) ? { ...failure, isBehind: true } : failure)
    }
    return yield* Schema.decodeUnknownEffect(schema)(result).pipe(
      Effect.mapError(() => silence(`${method}: the answer could not be read`, false))
    )
  })

  const verify = Effect.suspend(() =>
    isVerified
      ? Effect.void
      : Effect.flatMap(once("getGenesisHash", [], Schema.String), (hash) => {
          isVerified = hash.startsWith(solanaReference)
          return isVerified
            ? Effect.void
            : Effect.fail(silence("the endpoint serves another network than Solana's main one; correct its URL", false))
        })
  )

  const endpoint: Endpoint = {
    avoidUntil: 0n,
    call: <S extends AnswerSchema>(method: string, params: ReadonlyArray<unknown>, schema: S) => {
      const attempt = (left: number): Effect.Effect<S["Type"], EndpointFailure> =>
        Effect.catch(
          Effect.andThen(verify, once(method, params, schema)),
          (failure): Effect.Effect<S["Type"], EndpointFailure> =>
            failure.mayPass && left > 0 && failure.pause === undefined
              ? Effect.andThen(sleepRealTime(retryPause), attempt(left - 1))
              : Effect.fail(failure)
        )
      return attempt(retries)
    }
  }
  return endpoint
})
