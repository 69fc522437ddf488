/** Requests to CoinGecko, within what its plans allow. */
import { Context, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { PricesUnavailable } from "#domain/market/Prices.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import type { Problem } from "#layers/provider/Problem.ts"
import { type AnswerSchema, describeStatus, makeFind, type Question } from "#layers/provider/makeFind.ts"

const named = {
  name: "CoinGecko",
  refusedKey: "check COINGECKO_API_KEY, and that COINGECKO_URL is the host of COINGECKO_PLAN"
}

const Code = Schema.optionalKey(Schema.Unknown)
/** CoinGecko has no single form of a refusal: code and words stand at the top or in `status`, or there is `error`. */
const readRefusal = Schema.decodeUnknownOption(
  Schema.Struct({
    error_code: Code,
    error_message: Code,
    error: Code,
    status: Schema.optionalKey(Schema.Struct({ error_code: Code, error_message: Code }))
  })
)

const readProblem = (body: unknown): Problem | undefined =>
  Option.getOrUndefined(
    Option.map(readRefusal(body), (refusal) => {
      const code = refusal.status?.error_code ?? refusal.error_code
      const words = refusal.status?.error_message ?? refusal.error_message ?? refusal.error
      return {
        code: typeof code === "number" && Number.isSafeInteger(code) ? code : null,
        words: typeof words === "string" ? words : ""
      }
    })
  )

export class CoinGeckoClient extends Context.Service<
  CoinGeckoClient,
  {
    readonly get: <S extends AnswerSchema>(question: Question<S>) => Effect.Effect<S["Type"], PricesUnavailable>
    /** Requests a path that names one thing: none when CoinGecko does not list it. */
    readonly find: <S extends AnswerSchema>(
      question: Question<S>
    ) => Effect.Effect<Option.Option<S["Type"]>, PricesUnavailable>
  }
>()("ballast/layers/market/CoinGeckoClient") {
  static readonly layer = Layer.effect(
    CoinGeckoClient,
    Effect.gen(function* () {
      const { baseUrl, apiKey, plan } = yield* CoinGeckoConfig
      const keyHeader = plan === "pro" ? "x-cg-pro-api-key" : "x-cg-demo-api-key"
      const ask = yield* makeFind({
        ...named,
        baseUrl,
        headers: apiKey === null ? {} : { [keyHeader]: Redacted.value(apiKey) },
        concurrentRequests: 4,
        answerLimit: Duration.seconds(4),
        retryPause: Duration.millis(250),
        maxBytes: 4 * 1024 * 1024,
        longestPause: Duration.minutes(2),
        pauseHeaders: ["retry-after"],
        transientStatuses: [],
        readProblem
      })

      const find = Effect.fn("CoinGeckoClient.get")(<S extends AnswerSchema>(question: Question<S>) =>
        Effect.mapError(
          ask(question),
          ({ code, reason }) => new PricesUnavailable({ reason, ...(code === null ? {} : { code }) })
        )
      )

      const get = <S extends AnswerSchema>(question: Question<S>) =>
        Effect.flatMap(
          find(question),
          Option.match({
            onNone: () => Effect.fail(new PricesUnavailable({ reason: describeStatus(named, 404) })),
            onSome: Effect.succeed
          })
        )

      return CoinGeckoClient.of({ get, find })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
