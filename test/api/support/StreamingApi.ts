/** The API on a real server with short times for its streams; `Api.call` and `Streams.open` go over the wire. */
import { NodeHttpServer } from "@effect/platform-node"
import { Context, DateTime, Duration, Effect, Layer, type LogLevel, type Scope } from "effect"
import { type HttpRouter, HttpServer } from "effect/http"
import { createServer, type Server } from "node:http"
import type { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import type { Executions } from "#domain/execution/Executions.ts"
import type { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import type { AccessChanges } from "#domain/identity/AccessChanges.ts"
import type { Tenants } from "#domain/identity/Tenants.ts"
import type { TenantStore } from "#domain/identity/TenantStore.ts"
import type { UserStore } from "#domain/identity/UserStore.ts"
import type { Prices } from "#domain/market/Prices.ts"
import type { PriceSettings } from "#domain/market/PriceSettings.ts"
import type { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import type { OrderStore } from "#domain/order/OrderStore.ts"
import type { IssuerQuoteStore } from "#domain/order/IssuerQuoteStore.ts"
import type { Assets } from "#domain/asset/Assets.ts"
import type { Sessions } from "#domain/identity/Sessions.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { type OperationState } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { Operations } from "#domain/operation/Operations.ts"
import type { PortfolioPerformances } from "#domain/performance/PortfolioPerformances.ts"
import type { Policies } from "#domain/policy/Policies.ts"
import type { PortfolioAccess } from "#domain/portfolio/PortfolioAccess.ts"
import type { Portfolios } from "#domain/portfolio/Portfolios.ts"
import type { PositionReader } from "#domain/portfolio/PositionReader.ts"
import type { Previews } from "#domain/rebalance/preview/Previews.ts"
import type { Rebalances } from "#domain/rebalance/Rebalances.ts"
import type { RefusedRequests } from "#domain/request/RefusedRequests.ts"
import type { RateLimits } from "#domain/request/RateLimits.ts"
import type { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { ServeRoutes } from "#http/ServeRoutes.ts"
import type { ShutdownState } from "#http/ShutdownState.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { socketOptions } from "#rpc/native/socketProtocol.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { Api, among, unlimited } from "#test/api/support/Api.ts"
import { noteAnswer } from "#test/api/support/noteAnswer.ts"
import { TestStores } from "#test/support/database.ts"
import { type EventSource, openEvents } from "#test/support/eventSource.ts"

export interface StreamRequest {
  readonly key?: string
  /** Token of a wallet session, or a key; sent as a bearer token. */
  readonly token?: string
  readonly lastEventId?: string
}

export class Streams extends Context.Service<
  Streams,
  {
    /** Open until the scope closes. */
    readonly open: (operationId: string, request: StreamRequest) => Effect.Effect<EventSource, never, Scope.Scope>
    /** The stream at another path. */
    readonly openAt: (path: string, request: StreamRequest) => Effect.Effect<EventSource, never, Scope.Scope>
    readonly url: (operationId: string) => string
    readonly baseUrl: string
    /** Whether the server still has the connection of a client, by the client's port. */
    readonly isConnected: (clientPort: number) => boolean
  }
>()("ballast/test/Streams") {}

export const streamPath = (operationId: string) => `/v1/executions/${operationId}/stream`

export const usual: typeof StreamTiming.Service = {
  heartbeat: Duration.millis(50),
  timeout: Duration.millis(400),
  budget: 262_144,
  grace: Duration.seconds(3),
  longest: Duration.minutes(15)
}

const wire = (server: Server) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const baseUrl = `http://127.0.0.1:${(address as { readonly port: number }).port}`
    const url = (operationId: string) => `${baseUrl}${streamPath(operationId)}`
    const clientPorts = new Set<number>()
    server.on("connection", (socket) => {
      const port = socket.remotePort!
      clientPorts.add(port)
      socket.once("close", () => clientPorts.delete(port))
    })
    const isConnected = (clientPort: number) => clientPorts.has(clientPort)

    const openAt = (path: string, { key, lastEventId, token }: StreamRequest) =>
      Effect.acquireRelease(
        Effect.promise(async () => {
          const source = await openEvents(`${baseUrl}${path}`, {
            ...(key === undefined ? {} : { "x-api-key": key }),
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId })
          })
          if (source.status < 400) noteAnswer("GET", path, { status: source.status, json: undefined })
          return source
        }),
        (source) => Effect.sync(source.close)
      )

    const call: Api["Service"]["call"] = (method, path, { body, headers, key, text } = {}) =>
      Effect.promise(async () => {
        const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
        const response = await fetch(`${baseUrl}${path}`, {
          method,
          headers: {
            ...(key === undefined ? {} : { "x-api-key": key }),
            ...(sent === undefined ? {} : { "content-type": "application/json" }),
            ...headers
          },
          ...(sent === undefined ? {} : { body: sent })
        })
        const answered = await response.text()
        const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
        const json = isJson ? JSON.parse(answered) : undefined
        noteAnswer(method, path, { status: response.status, json })
        return { path, status: response.status, headers: response.headers, text: answered, json }
      })

    const open = (operationId: string, request: StreamRequest) => openAt(streamPath(operationId), request)

    return Context.empty().pipe(
      Context.add(Streams, { open, openAt, url, baseUrl, isConnected }),
      Context.add(Api, { call })
    )
  })

/** What other routes may be made of. */
type Ours = Given | HttpRouter.HttpRouter | ShutdownState
type Given =
  | AccessChanges
  | ActionPorts
  | Executions
  | ExecutionReaders
  | PortfolioServices
  | RateLimits
  | RefusedRequests
  | Sessions
  | StreamAdmission
  | Tenants
  | TenantStore
  | UserStore
type ActionPorts = OrderStore | Assets | IssuerQuoteStore | OperationLauncher | Prices | PriceSettings
type PortfolioServices =
  | Operations
  | Policies
  | PortfolioAccess
  | PortfolioPerformances
  | Portfolios
  | PositionReader
  | Previews
  | Rebalances

interface Kept {
  readonly limits?: RateLimitSettings["Service"]
  readonly level?: LogLevel.LogLevel
  readonly stores?: typeof TestStores
}

/** A server of its own on a free port; `others` are routes beside the REST ones. */
export const streamingApi = (
  timing: Partial<typeof StreamTiming.Service> = {},
  others: Layer.Layer<never, never, Ours> = Layer.empty,
  { level = "Warn", limits = unlimited, stores = TestStores }: Kept = {}
) =>
  Layer.unwrap(
    Effect.sync(() => {
      const server = createServer()
      const served = Layer.unwrap(
        Effect.contextWith((context: Context.Context<Given>) =>
          Effect.succeed(ServeRoutes([], others.pipe(Layer.provide(Layer.succeedContext(context)))))
        )
      )
      return among(
        Layer.effectContext(wire(server)).pipe(
          Layer.provideMerge(served.pipe(Layer.provide(Layer.succeed(StreamTiming, { ...usual, ...timing })))),
          Layer.provide(
            NodeHttpServer.layer(() => server, {
              port: 0,
              host: "127.0.0.1",
              gracefulShutdownTimeout: "60 seconds",
              websocket: socketOptions
            })
          )
        ),
        limits,
        { level, stores }
      )
    })
  )

/** An enrolled user whose portfolio has an accepted run. */
export const accepted = Effect.gen(function* () {
  const { call } = yield* Api
  const user = yield* enrolledUser()
  const submitted = yield* call("POST", `/v2/portfolios/${user.portfolioId}/rebalance`, { key: user.key })
  return { ...user, operationId: submitted.json.data.operationId as OperationId }
})

/** Written as by another process: this one is not notified. */
export const enter = Effect.fnUntraced(function* (
  operationId: OperationId,
  to: OperationState,
  error: string | null = null
) {
  yield* (yield* OperationStore).transition({ operationId, to, at: yield* DateTime.now, error })
})

export const append = Effect.fnUntraced(function* (operationId: OperationId, kind: string, payload: unknown) {
  yield* (yield* OperationStore).append({ operationId, at: yield* DateTime.now, kind, payload })
})
