/** Requests to LI.FI, within what its documentation requires of clients. */
import { Context, Duration, Effect, Layer, type Option, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { RoutingUnavailable } from "#domain/trading/Routing.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { type AnswerSchema, makeFind, type Question } from "#layers/provider/makeFind.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"

/** How long an answer about a swap is waited for, and how long the turn for the request and the answer together. */
const soon = { answer: Duration.seconds(4), all: Duration.seconds(5) }

export class LifiClient extends Context.Service<
  LifiClient,
  {
    /** GET; none when LI.FI answers 404. */
    readonly find: <S extends AnswerSchema>(
      question: Question<S>
    ) => Effect.Effect<Option.Option<S["Type"]>, RoutingUnavailable>
    /**
     * POST of a body, for swaps that another venue makes if no answer comes: tried once, in seconds, and after a
     * failure not again for a while. Its limits are its own, so that swaps take nothing from transfers on their way.
     */
    readonly post: <S extends AnswerSchema>(
      question: Question<S>,
      body: unknown
    ) => Effect.Effect<Option.Option<S["Type"]>, RoutingUnavailable>
  }
>()("ballast/layers/routing/lifi/LifiClient") {
  static readonly layer = Layer.effect(
    LifiClient,
    Effect.gen(function* () {
      const { apiKey, baseUrl, integrator } = yield* LifiConfig
      const provider = {
        name: "LI.FI",
        baseUrl: baseUrl ?? "",
        headers: {
          "x-lifi-integrator": integrator,
          ...(apiKey === null ? {} : { "x-lifi-api-key": Redacted.value(apiKey) })
        },
        refusedKey: "check LIFI_API_KEY",
        concurrentRequests: 8,
        maxBytes: 1024 * 1024,
        longestPause: Duration.minutes(10),
        pauseHeaders: ["retry-after", "ratelimit-reset"]
      }
      const ask = yield* makeFind({
        ...provider,
        answerLimit: Duration.seconds(10),
        retryPause: Duration.millis(500),
        transientStatuses: [424]
      })
      const askSoon = yield* makeFind({
        ...provider,
        answerLimit: soon.answer,
        pauseAfterFailure: Duration.seconds(30),
        transientStatuses: []
      })
      const unconfigured = new RoutingUnavailable({ reason: "No routing provider is configured; set LIFI_URL" })

      const find = Effect.fn("LifiClient.find")(function* <S extends AnswerSchema>(question: Question<S>) {
        if (baseUrl === null) return yield* unconfigured
        return yield* Effect.mapError(ask(question), ({ reason }) => new RoutingUnavailable({ reason }))
      })

      const post = Effect.fn("LifiClient.post")(function* <S extends AnswerSchema>(
        question: Question<S>,
        body: unknown
      ) {
        if (baseUrl === null) return yield* unconfigured
        return yield* askSoon(question, body).pipe(
          Effect.mapError(({ reason }) => new RoutingUnavailable({ reason })),
          // Those that wait for others to be answered do not wait longer either.
          withinRealTime(soon.all, () => new RoutingUnavailable({ reason: "LI.FI is too busy to be asked now" }))
        )
      })

      return LifiClient.of({ find, post })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
