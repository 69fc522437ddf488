/** The routes of the worker for the API, with the internal token; and the health routes. */
import { Effect, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { isSameSecret } from "#domain/identity/isSameSecret.ts"
import type { BackplaneUnavailable } from "#domain/stream/Backplane.ts"
import { InternalToken, internalTokenHeader } from "#domain/stream/InternalToken.ts"
import { Provider, RegistryUpsert } from "#domain/stream/PublicAsset.ts"
import type { StreamRefusal } from "#domain/stream/SocketGate.ts"
import { answering, json, readBody, refused } from "#stream/answers.ts"
import { Intake } from "#stream/Intake.ts"
import { internalTokenInvalid, notReady, noSuchTopic } from "#stream/refusals.ts"
import { Registry } from "#stream/Registry.ts"
import { Status } from "#stream/Status.ts"

const ProviderBody = Schema.Struct({ provider: Provider })

export const internalRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const intake = yield* Intake
    const registry = yield* Registry
    const status = yield* Status
    const expected = Redacted.value(yield* InternalToken)

    const internal = <R>(
      handler: Effect.Effect<HttpServerResponse.HttpServerResponse, StreamRefusal | BackplaneUnavailable, R>
    ) =>
      answering(
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          isSameSecret(headers[internalTokenHeader] ?? "", expected) ? handler : Effect.fail(internalTokenInvalid)
        )
      )

    const upsert = Effect.gen(function* () {
      const { assets } = yield* readBody(RegistryUpsert)
      yield* registry.upsert(assets)
      return json({ upserted: assets.length, assets: registry.all().length })
    })
    const connect = Effect.gen(function* () {
      const { provider } = yield* readBody(ProviderBody)
      return json(yield* status.connect(provider))
    })
    const disconnect = Effect.gen(function* () {
      const { provider } = yield* readBody(ProviderBody)
      return json(yield* status.disconnect(provider))
    })
    const ready = Effect.map(intake.isReady, (isReady) => (isReady ? json({ status: "ready" }) : refused(notReady)))

    yield* router.add("POST", "/internal/public-registry/assets/upsert", internal(upsert))
    yield* router.add(
      "GET",
      "/internal/public-registry/assets",
      internal(Effect.sync(() => json({ assets: registry.all() })))
    )
    yield* router.add("GET", "/internal/status", internal(Effect.sync(() => json(status.read()))))
    yield* router.add("POST", "/internal/providers/connect", internal(connect))
    yield* router.add("POST", "/internal/providers/disconnect", internal(disconnect))
    yield* router.add("GET", "/health/live", json({ status: "live" }))
    yield* router.add("GET", "/health/ready", ready)
    yield* router.add("*", "/*", refused(noSuchTopic))
  })
)
