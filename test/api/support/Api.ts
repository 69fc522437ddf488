/**
 * The whole API without a socket: the routes over the real services and an embedded database, called like fetch.
 * Outside the database, what surrounds the service is `TestEnvironment`.
 */
import { Duration, Context, Effect, Layer, type LogLevel, Redacted, References } from "effect"
import { Digest } from "effect/crypto"
import { HttpEffect, HttpRouter, HttpServer } from "effect/http"
import { ChainId } from "#domain/values/Caip.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import { OperationTails } from "#domain/execution/OperationTails.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { StandingAccess } from "#domain/identity/access/StandingAccess.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { OperatorAccount } from "#domain/strategy/OperatorAccount.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { TenantOrigins } from "#domain/tenant/TenantOrigins.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { browserAccess } from "#http/serving/browserAccess.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { Routes, ServerContext } from "#http/Routes.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { SecretBoxLive } from "#layers/identity/SecretBoxLive.ts"
import { SolanaWalletsLive } from "#layers/solana/enrollment/SolanaWalletsLive.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaClients } from "#layers/solana/SolanaLive.ts"
import { WebhookConfig } from "#layers/webhook/WebhookConfig.ts"
import { WebhookSenderLive } from "#layers/webhook/WebhookSenderLive.ts"
import { testSettingsWith } from "#test/support/settings.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { ListingFakes } from "#test/api/support/listingFakes.ts"
import { noteAnswer } from "#test/api/support/noteAnswer.ts"
import { PastPrices } from "#test/api/support/PastPrices.ts"
import { HealthFakes } from "#test/api/support/HealthFakes.ts"
import { TestEnvironmentLive } from "#test/api/support/TestEnvironment.ts"
import { TestStores } from "#test/support/database.ts"
import { Concepts } from "#src/service/Concepts.ts"

export interface Answer {
  /** Path of the request. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, when it is JSON. */
  readonly json: any
}

export interface Call {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is. */
  readonly text?: string
}

export const adminToken = "test-admin-token-of-enough-length"

/** Owns the operator's own strategies. */
export const operatorAddress = "0x000000000000000000000000000000000000A11A" as OwnerAddress

export class Api extends Context.Service<
  Api,
  { readonly call: (method: string, path: string, call?: Call) => Effect.Effect<Answer> }
>()("ballast/test/Api") {}

/** Origin of the pages whose sessions count. */
export const ownOrigin = "https://app.example.com"

/** Few enough to come to the end of them. */
export const streamSettings: StreamSettings["Service"] = {
  maxOpen: 6,
  maxOpenPerTenant: 4,
  maxOpenPerKey: 4,
  maxOpenPerAddress: 6,
  maxOpenOfSessions: 4,
  maxOpenPerSession: 2,
  maxOpenOfSessionsPerTenant: 3,
  maxOpenOfSessionsPerAddress: 4,
  pollIntervalMs: 50,
  recheckIntervalMs: 200
}

const settings = Layer.mergeAll(
  OperatorToken.layer(Redacted.make(adminToken)),
  Layer.succeed(OperatorAccount, { address: operatorAddress }),
  Layer.succeed(DocsSettings, { publicUrl: "http://localhost:3000" }),
  Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper of the contract tests") }),
  Layer.succeed(WebhookConfig, { targets: "public" }),
  Layer.succeed(StreamSettings, streamSettings),
  Layer.succeed(SignInSettings, { origins: [ownOrigin], chainIds: [ChainId.make(8453)] }),
  testSettingsWith({
    prices: { maxAgeMs: 300_000 },
    scheduler: { intervalMs: 1_000, batch: 100 },
    priceHistory: { intervalMs: 60_000, batch: 100 },
    valuation: { intervalMs: 3_600_000, batch: 100 },
    discovery: { intervalMs: 300_000 }
  })
)

const services = Layer.merge(Concepts, TenantOrigins.layerEvery(Duration.millis(20))).pipe(
  Layer.provideMerge(ExecutionReaders.layer.pipe(Layer.provide(RequestSession.layer))),
  Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, Sessions.layer, RefusedRequests.layer)),
  Layer.provideMerge(
    Layer.merge(OperationTails.layer, StreamAdmission.layer.pipe(Layer.provide(StandingAccess.layer)))
  ),
  Layer.provideMerge(AccessChanges.layer),
  Layer.provideMerge(SecretBoxLive),
  Layer.provide([KeyHashLive, WebhookSenderLive])
)

const server = Layer.effect(
  Api,
  Effect.gen(function* () {
    const httpEffect = yield* HttpRouter.toHttpEffect(Layer.merge(Routes, browserAccess([ownOrigin])))
    const handler = HttpEffect.toWebHandlerWith(yield* Effect.context<never>())(
      httpEffect as typeof httpEffect & Effect.Effect<never>
    )

    const call = (method: string, path: string, { key, headers, body, text }: Call = {}) =>
      Effect.promise(async (): Promise<Answer> => {
        const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
        const request = new Request(`http://api.test${path}`, {
          method,
          headers: {
            ...(key === undefined ? {} : { "x-api-key": key }),
            ...(sent === undefined ? {} : { "content-type": "application/json" }),
            ...headers
          },
          ...(sent === undefined ? {} : { body: sent })
        })
        const response = await handler(request)
        const answered = await response.text()
        const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
        const answer = {
          path,
          status: response.status,
          headers: response.headers,
          text: answered,
          json: isJson ? JSON.parse(answered) : undefined
        }
        noteAnswer(method, path, answer)
        return answer
      })

    return Api.of({ call })
  })
).pipe(Layer.provide([ServerContext, ShutdownState.layer]))

/** The wallets of a deployment without Solana. */
export const NoSolana = SolanaWalletsLive.pipe(
  Layer.provide(SolanaClients),
  Layer.provide(Layer.succeed(SolanaConfig, null))
)

/** What surrounds the service, of a deployment without Solana. */
export const HttpEnvironment = Layer.merge(HealthFakes, NoSolana).pipe(Layer.provideMerge(TestEnvironmentLive))

interface Among {
  readonly counters?: Layer.Layer<RateLimits, never, RateLimitSettings>
  readonly stores?: typeof TestStores
  /** The request log has a line for every refusal, of which tests make many. */
  readonly level?: LogLevel.LogLevel
  readonly environment?: typeof HttpEnvironment
}

/** Puts a layer over the routes among everything that they need, with the given limits. */
export const among = <A, E, R>(
  layer: Layer.Layer<A, E, R>,
  limits: RateLimitSettings["Service"],
  { counters = RateLimits.layerMemory, level = "Warn", stores = TestStores, environment = HttpEnvironment }: Among = {}
) =>
  layer.pipe(
    Layer.provideMerge(services),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, level)),
    Layer.provideMerge(counters),
    Layer.provideMerge(ListingFakes),
    Layer.provideMerge(environment),
    Layer.provideMerge(PastPrices.layer),
    Layer.provideMerge(stores),
    Layer.provide(settings),
    Layer.provide(Layer.succeed(RateLimitSettings, limits)),
    Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)),
    Layer.provide(Layer.mergeAll(HttpServer.layerServices, Digest.layerWebCrypto)),
    Layer.provideMerge(MovableClock.layer)
  )

/** Limits that a test does not reach. */
export const unlimited: RateLimitSettings["Service"] = {
  global: 1_000_000,
  critical: 1_000_000,
  general: 1_000_000,
  burst: 1_000_000
}

export const apiWith = (limits: RateLimitSettings["Service"]) => among(server, limits)

/** The API in another environment. */
export const apiIn = (environment: typeof HttpEnvironment) => among(server, unlimited, { environment })

export const ApiLive = apiWith(unlimited)

/** Serves the API over stores of the test's own. */
export const apiOn = (stores: typeof TestStores) => among(server, unlimited, { stores })

/** Serves the API with the request log of a service. */
export const ApiWithLog = among(server, unlimited, { level: "Info" })

/** Serves the API with request counters of the test's own. */
export const apiCountedBy = (counters: Layer.Layer<RateLimits>) => among(server, unlimited, { counters })
