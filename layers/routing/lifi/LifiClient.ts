/** Requests to LI.FI, within what its documentation asks of clients. */
import { Context, Duration, Effect, Layer, type Option, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { RoutingUnavailable } from "#domain/routing/Routing.ts"
import { type AnswerSchema, makeFind } from "#layers/provider/makeFind.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"

export class LifiClient extends Context.Service<
  LifiClient,
  {
    /** GET of a path below the base, decoded by `schema`; none when LI.FI answers 404. */
    readonly find: <S extends AnswerSchema>(
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
      const ask = yield* makeFind({
        name: "LI.FI",
        baseUrl: baseUrl ?? "",
        headers: {
          "x-lifi-integrator": integrator,
          ...(apiKey === null ? {} : { "x-lifi-api-key": Redacted.value(apiKey) })
        },
        refusedKey: "check LIFI_API_KEY",
        concurrentRequests: 8,
        answerLimit: Duration.seconds(10),
        retryPause: Duration.millis(500),
        maxBytes: 1024 * 1024,
        longestPause: Duration.minutes(10),
        pauseHeaders: ["retry-after", "ratelimit-reset"],
        transientStatuses: [424]
      })

      const find = Effect.fn("LifiClient.find")(function* <S extends AnswerSchema>(
        path: string,
        params: Record<string, string>,
        schema: S
      ) {
        if (baseUrl === null) {
          return yield* new RoutingUnavailable({ reason: "No routing provider is configured; set LIFI_URL" })
        }
        return yield* Effect.mapError(ask(path, params, schema), ({ reason }) => new RoutingUnavailable({ reason }))
      })

      return LifiClient.of({ find })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
