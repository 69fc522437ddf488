/**
 * Requests to an outside provider: bounded in number, rate, time and size; tried twice when the failure may pass; and
 * after a 429 none for as long as the answer requires. Calls fail meanwhile, so that a long Retry-After delays none of
 * them.
 */
import { Clock, Duration, Effect, Option, Result, Schema, Semaphore } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import { sleepRealTime, withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/provider/boundedJson.ts"
import { type Problem, shownMessage } from "#layers/provider/Problem.ts"

/** Decodes an answer without services. */
export type AnswerSchema = Schema.Constraint & { readonly DecodingServices: never }

/** A request to a provider. */
export interface Question<S extends AnswerSchema> {
  /** Path below the base. */
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  /** Decodes the answer. */
  readonly schema: S
}

export interface Provider {
  /** Name in messages. */
  readonly name: string
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** The setting to check when the provider refuses the key. */
  readonly refusedKey: string
  readonly concurrentRequests: number
  /** What the provider's plan allows; requests beyond it wait for their turn. Left out: as many as there are. */
  readonly requestsPerSecond?: number
  readonly answerLimit: Duration.Duration
  /** Pause after which a request that failed for a reason that may pass is made once more; left out: it is not. */
  readonly retryPause?: Duration.Duration
  /** Time for which nothing is requested after such a failure; left out: no pause. */
  readonly pauseAfterFailure?: Duration.Duration
  readonly maxBytes: number
  readonly longestPause: Duration.Duration
  /** Headers with the time to pause, in seconds, as a date or as unix seconds; the first that is there counts. */
  readonly pauseHeaders: ReadonlyArray<string>
  /** Statuses that may pass, besides those of 500 and above and 408. */
  readonly transientStatuses: ReadonlyArray<number>
  /** Statuses besides the good ones whose bodies the schema decodes too, as refusals with reasons; left out: none. */
  readonly answeredStatuses?: ReadonlyArray<number>
  /** Reads what the body of a refusal says; left out: it is not read. */
  readonly readProblem?: (body: unknown) => Problem | undefined
}

/** The provider gave no answer that can be used. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  reason: Schema.String,
  /** The provider's own code of its refusal; null where it gave none. */
  code: Schema.NullOr(Schema.Int)
}) {}

const defaultPause = Duration.seconds(10)

/** A failed attempt: why, whether another may succeed, and the pause that the provider requires. */
class AttemptFailed extends Schema.TaggedError<AttemptFailed>()("AttemptFailed", {
  reason: Schema.String,
  /** The status of an answer that was refused because of it. */
  status: Schema.NullOr(Schema.Int),
  isTransient: Schema.Boolean,
  pause: Schema.NullOr(Schema.Duration),
  code: Schema.NullOr(Schema.Int)
}) {}

const plain = (reason: string, isTransient: boolean) =>
  new AttemptFailed({ reason, status: null, isTransient, pause: null, code: null })

/** What an answer of this status means. */
export const describeStatus = ({ name, refusedKey }: Pick<Provider, "name" | "refusedKey">, status: number): string =>
  status === 401 || status === 403 ? `${name} refused the key (${status}); ${refusedKey}` : `${name} answered ${status}`

/** No pause is so long, so such a number is a moment. */
const firstUnixSecond = 1_000_000_000

const pauseOf = (
  { longestPause, pauseHeaders }: Provider,
  headers: Headers.Headers,
  now: number
): Duration.Duration => {
  const pauseHeader = pauseHeaders.map((name) => headers[name]).find((value) => value !== undefined)
  const moment = Number(pauseHeader)
  if (moment >= firstUnixSecond) {
    return Duration.min(Duration.millis(Math.max(0, moment * 1_000 - now)), longestPause)
  }
  const requested = Headers.parseRetryAfter(pauseHeader ?? "")
  return Result.isSuccess(requested)
    ? Duration.min(Headers.retryAfterDelay(requested.success, now), longestPause)
    : defaultPause
}

/** Refusals say little; a body that is longer is not one. */
const maxProblemBytes = 16 * 1024

/** What the body of a refusal says, as it may be shown. */
const problemOf = ({ headers, readProblem }: Provider, response: HttpClientResponse.HttpClientResponse) =>
  readProblem === undefined
    ? Effect.undefined
    : boundedJson(
        Schema.Unknown,
        maxProblemBytes
      )(response).pipe(
        Effect.map(readProblem),
        Effect.map((problem) =>
          problem === undefined ? undefined : { ...problem, words: shownMessage(problem.words, Object.values(headers)) }
        ),
        Effect.orElseSucceed(() => undefined)
      )

const statusOf = (error: { readonly message: string }) =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "StatusCodeError" ? error.reason : undefined

const toAttemptFailed = (
  provider: Provider,
  error: { readonly message: string },
  { now, problem }: { readonly now: number; readonly problem: Problem | undefined }
): AttemptFailed => {
  if (!HttpClientError.isHttpClientError(error)) {
    return plain(`${provider.name}'s answer is not readable: ${error.message}`, false)
  }
  const { reason } = error
  if (reason._tag === "TransportError") return plain(`${provider.name} cannot be reached`, true)
  if (reason._tag !== "StatusCodeError") return plain(error.message, false)
  const { headers, status } = reason.response
  const said = problem === undefined || problem.words === "" ? "" : `: "${problem.words}"`
  return new AttemptFailed({
    reason: `${describeStatus(provider, status)}${said}`,
    code: problem?.code ?? null,
    status,
    isTransient: status >= 500 || status === 408 || provider.transientStatuses.includes(status),
    pause: status === 429 ? pauseOf(provider, headers, now) : null
  })
}

/** Waits until the provider's plan allows another request; fails where that is longer than any pause. */
const turns = ({ longestPause, name, requestsPerSecond }: Provider): Effect.Effect<void, AttemptFailed> => {
  if (requestsPerSecond === undefined) return Effect.void
  let next = 0
  return Effect.suspend(() => {
    const now = performance.now()
    const wait = Math.max(0, next - now)
    if (wait > Duration.toMillis(longestPause)) {
      return Effect.fail(plain(`${name} would have to answer more requests than ${requestsPerSecond} a second`, false))
    }
    next = now + wait + 1_000 / requestsPerSecond
    return sleepRealTime(Duration.millis(wait))
  })
}

/** GET, or POST of a body where there is one; none when the provider answers 404. */
export const makeFind = Effect.fnUntraced(function* (provider: Provider) {
  const { answerLimit, baseUrl, concurrentRequests, headers, maxBytes, name, pauseAfterFailure, retryPause } = provider
  const answered = provider.answeredStatuses ?? []
  const http = yield* HttpClient.HttpClient
  const permits = yield* Semaphore.make(concurrentRequests)
  const turn = turns(provider)
  const pause = { until: 0, because: "" }
  const startPause = (length: Duration.Duration, because: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      pause.until = now + Duration.toMillis(length)
      pause.because = because
    })

  const attempt = <S extends AnswerSchema>(request: HttpClientRequest.HttpClientRequest, schema: S) =>
    Effect.andThen(turn, send(request, schema))

  const send = <S extends AnswerSchema>(request: HttpClientRequest.HttpClientRequest, schema: S) =>
    http.execute(request).pipe(
      Effect.flatMap(
        HttpClientResponse.filterStatus((status) => (status >= 200 && status < 300) || answered.includes(status))
      ),
      Effect.flatMap(boundedJson(schema, maxBytes)),
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          const refused = statusOf(error)
          const problem = refused === undefined ? undefined : yield* problemOf(provider, refused.response)
          return yield* toAttemptFailed(provider, error, { now: yield* Clock.currentTimeMillis, problem })
        })
      ),
      withinRealTime(answerLimit, () => plain(`${name} did not answer in ${Duration.format(answerLimit)}`, true)),
      // A redirect would send the key to another host.
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false)
    )

  return Effect.fnUntraced(function* <S extends AnswerSchema>(
    { params = {}, path, schema }: Question<S>,
    body?: unknown
  ) {
    const wait = pause.until - (yield* Clock.currentTimeMillis)
    if (wait > 0) {
      return yield* new ProviderUnavailable({
        reason: `${pause.because}; the next request goes out in ${Math.ceil(wait / 1000)} s`,
        code: null
      })
    }
    const options = { headers, urlParams: params, acceptJson: true } as const
    const request =
      body === undefined
        ? HttpClientRequest.get(`${baseUrl}${path}`, options)
        : HttpClientRequest.post(`${baseUrl}${path}`, options).pipe(HttpClientRequest.bodyJsonUnsafe(body))
    return yield* attempt(request, schema).pipe(
      Effect.catchIf(
        ({ isTransient }) => isTransient,
        (failed) =>
          retryPause === undefined
            ? Effect.fail(failed)
            : Effect.andThen(sleepRealTime(retryPause), attempt(request, schema))
      ),
      Effect.asSome,
      Effect.catch(
        Effect.fnUntraced(function* ({ code, isTransient, pause: requested, reason, status }) {
          if (status === 404) return Option.none()
          if (requested !== null) yield* startPause(requested, `${name}'s rate limit is reached`)
          else if (isTransient && pauseAfterFailure !== undefined) yield* startPause(pauseAfterFailure, reason)
          return yield* new ProviderUnavailable({ reason, code })
        })
      )
    )
  }, permits.withPermit)
})
