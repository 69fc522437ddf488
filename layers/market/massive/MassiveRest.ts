/** Requests to Massive's REST API, within what its plans allow. Source: Massive's REST documentation. */
import { Context, Duration, Effect, Layer, type Option, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { MarketDataUnavailable } from "#domain/marketData/Dataset.ts"
import { type AnswerSchema, makeFind, type Question } from "#layers/provider/makeFind.ts"

export class MassiveRestConfig extends Context.Service<
  MassiveRestConfig,
  {
    /** Base of the API without a slash at the end: `https://api.massive.com`. */
    readonly baseUrl: string
    readonly apiKey: Redacted.Redacted
  }
>()("ballast/layers/market/massive/MassiveRestConfig") {}

export class MassiveRest extends Context.Service<
  MassiveRest,
  {
    /** None when Massive does not have what is requested. */
    readonly find: <S extends AnswerSchema>(
      question: Question<S>
    ) => Effect.Effect<Option.Option<S["Type"]>, MarketDataUnavailable>
  }
>()("ballast/layers/market/massive/MassiveRest") {
  static readonly layer = Layer.effect(
    MassiveRest,
    Effect.gen(function* () {
      const { apiKey, baseUrl } = yield* MassiveRestConfig
      const ask = yield* makeFind({
        name: "Massive",
        refusedKey: "check MASSIVE_API_KEY and what its plan includes",
        baseUrl,
        headers: { authorization: `Bearer ${Redacted.value(apiKey)}` },
        concurrentRequests: 4,
        answerLimit: Duration.seconds(8),
        retryPause: Duration.millis(250),
        pauseAfterFailure: Duration.seconds(5),
        maxBytes: 8 * 1024 * 1024,
        longestPause: Duration.minutes(2),
        pauseHeaders: ["retry-after"],
        transientStatuses: []
      })
      return MassiveRest.of({
        find: Effect.fn("MassiveRest.find")(<S extends AnswerSchema>(question: Question<S>) =>
          Effect.mapError(ask(question), ({ reason }) => new MarketDataUnavailable({ reason }))
        )
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
