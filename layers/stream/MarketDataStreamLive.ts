/** The stream worker over its internal routes. Without an address there is none, and every call fails with that. */
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { InternalToken, internalTokenHeader } from "#domain/stream/InternalToken.ts"
import { MarketDataStream, MarketDataStreamFailed } from "#domain/stream/MarketDataStream.ts"
import { PublicAsset } from "#domain/stream/PublicAsset.ts"
import { ProviderConnected, ProviderDisconnected, WorkerStatus } from "#domain/stream/WorkerStatus.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/provider/boundedJson.ts"

const answerLimit = Duration.seconds(3)
const maxBytes = 4 * 1024 * 1024

const Refusal = Schema.Struct({ error: Schema.String, message: Schema.String })
const failed = (reason: string, isOurs = true) => new MarketDataStreamFailed({ reason, isOurs })

export const MarketDataStreamLive = (url: string | null) =>
  Layer.effect(
    MarketDataStream,
    Effect.gen(function* () {
      const http = yield* HttpClient.HttpClient
      const token = Redacted.value(yield* InternalToken)

      const read = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
        schema: S,
        response: HttpClientResponse.HttpClientResponse
      ) =>
        response.status === 200
          ? boundedJson(schema, maxBytes)(response)
          : Effect.flatMap(boundedJson(Refusal, maxBytes)(response), ({ message }) =>
              Effect.fail(failed(message, response.status !== 400 && response.status !== 409))
            )

      const ask = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
        path: string,
        schema: S,
        body?: unknown
      ): Effect.Effect<S["Type"], MarketDataStreamFailed> => {
        if (url === null) return Effect.fail(failed("No stream worker is configured (STREAM_URL)"))
        const headers = { [internalTokenHeader]: token }
        const request =
          body === undefined
            ? HttpClientRequest.get(`${url}${path}`, { headers })
            : HttpClientRequest.post(`${url}${path}`, { headers }).pipe(HttpClientRequest.bodyJsonUnsafe(body))
        return http.execute(request).pipe(
          Effect.flatMap((response) => read(schema, response)),
          withinRealTime(answerLimit, () =>
            failed(`The stream worker did not answer in ${Duration.format(answerLimit)}`)
          ),
          Effect.catch((error) =>
            Effect.fail(
              error._tag === "MarketDataStreamFailed"
                ? error
                : failed(
                    error._tag === "HttpClientError"
                      ? "The stream worker cannot be reached"
                      : `The stream worker's answer is not readable: ${error.message}`
                  )
            )
          )
        )
      }

      return MarketDataStream.of({
        status: ask("/internal/status", WorkerStatus),
        connect: (provider) => ask("/internal/providers/connect", ProviderConnected, { provider }),
        disconnect: (provider) => ask("/internal/providers/disconnect", ProviderDisconnected, { provider }),
        registered: Effect.map(
          ask("/internal/public-registry/assets", Schema.Struct({ assets: Schema.Array(PublicAsset) })),
          ({ assets }) => assets
        ),
        upsert: (assets) =>
          Effect.asVoid(
            ask("/internal/public-registry/assets/upsert", Schema.Struct({ upserted: Schema.Int }), { assets })
          )
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
