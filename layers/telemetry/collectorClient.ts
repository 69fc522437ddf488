/**
 * What exports are sent with. A collector that never answers must not collect exports without end, and one that cannot
 * be reached, or that takes nothing, is reported once, and once when it takes exports again: the exporters themselves
 * say it at Debug, at every turn.
 */
import { Context, Duration, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"

const exportLimit = Duration.seconds(10)

/** Sendings in a row that must fail: one that is lost is sent again a second later, and nobody needs to know. */
const failuresToTell = 2

/** `endpoint` is the collector's base URL, for the log. */
export const collectorClient = (endpoint: string) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      // An export runs among what its exporter was built with, which are not yet the loggers of the process.
      const loggers = yield* Effect.context<never>()
      let failures = 0

      const reported = (entry: Effect.Effect<void>) =>
        Effect.updateContext(entry, (context: Context.Context<never>) => Context.merge(context, loggers))

      const failed = (reason: string) =>
        Effect.suspend(() => {
          failures += 1
          if (failures !== failuresToTell) return Effect.void
          return reported(
            Effect.logWarning(
              `Traces, metrics and logs do not reach the collector at ${endpoint}: ${reason}. What it does not take is lost; check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS`
            )
          )
        })

      const taken = Effect.suspend(() => {
        const wasAway = failures >= failuresToTell
        failures = 0
        return wasAway ? reported(Effect.logWarning(`The collector at ${endpoint} takes exports again`)) : Effect.void
      })

      return HttpClient.transform(client, (response, request) =>
        withinRealTime(
          exportLimit,
          () =>
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({
                request,
                description: `no answer in ${Duration.format(exportLimit)}`
              })
            })
        )(response).pipe(
          Effect.tap(({ status }) => (status < 400 ? taken : failed(`it answers ${status}`))),
          Effect.tapError(({ reason }) => failed(reason.message))
        )
      )
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
