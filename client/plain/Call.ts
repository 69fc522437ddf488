/**
 * Calls any endpoint of the contract with plain JSON and answers its `data`. What is sent is read by the contract's own
 * schemas before it leaves, what comes back when it arrives.
 */
import { Context, Effect, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, type HttpApi, type HttpApiGroup } from "effect/http-api"
import { type BallastError, fromFailure, notSent } from "#client/plain/BallastError.ts"
import { apiKeyClientLayer } from "#http/client/apiKeyClientLayer.ts"
import { V2 } from "#http/v2/Api.ts"

export interface ConnectOptions {
  /** Address of the deployment, without `/v2`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** In place of the platform's own. */
  readonly fetch?: typeof globalThis.fetch
  /** How often a read, or a call with an idempotency key, is sent again when the failure may pass; 2 when left out. */
  readonly retries?: number
}

export interface CallOptions {
  /** Makes a POST that creates safe to send again; 1 to 255 visible ASCII characters. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

type Groups = typeof V2 extends HttpApi.HttpApi<infer _Id, infer All> ? All : never
type Endpoints = HttpApiGroup.Endpoints<Groups>
/** Names are the document's operation ids. */
export type EndpointName = Endpoints["identifier"]
type EndpointOf<Name> = Extract<Endpoints, { readonly identifier: Name }>

/** As JSON has it: the endpoint's schemas are wrapped in codecs whose own encoded form is any JSON. */
type Encoded<S> = S extends Schema.toCodecJson<infer Inner> | Schema.toCodecStringTree<infer Inner>
  ? Inner["Encoded"]
  : S extends Schema.Constraint
    ? S["Encoded"]
    : never
/** Texts of a query may be given as numbers. */
type QueryOf<S> = { readonly [K in keyof Encoded<S>]: Encoded<S>[K] | (string extends Encoded<S>[K] ? number : never) }
type Part<Name extends string, S, Content> = [S] extends [never]
  ? unknown
  : undefined extends Content
    ? { readonly [K in Name]?: Content }
    : object extends Content
      ? { readonly [K in Name]?: Content }
      : { readonly [K in Name]: Content }

/** What an endpoint is sent: `params`, `query` and `payload`, as JSON has them. */
export type RequestOf<Name extends EndpointName> = Part<
  "params",
  EndpointOf<Name>["~Params"],
  Encoded<EndpointOf<Name>["~Params"]>
> &
  Part<"query", EndpointOf<Name>["~Query"], QueryOf<EndpointOf<Name>["~Query"]>> &
  Part<"payload", EndpointOf<Name>["~Payload"], Encoded<EndpointOf<Name>["~Payload"]>>

/** The body that an endpoint takes. */
export type PayloadOf<Name extends EndpointName> = NonNullable<Encoded<EndpointOf<Name>["~Payload"]>>

/** The query that an endpoint takes. */
export type FilterOf<Name extends EndpointName> = QueryOf<EndpointOf<Name>["~Query"]>

/** The whole envelope that an endpoint answers. */
export type AnswerOf<Name extends EndpointName> = EndpointOf<Name>["~Success"] extends Schema.Constraint
  ? EndpointOf<Name>["~Success"]["Type"]
  : never

/** The `data` that an endpoint answers. */
export type DataOf<Name extends EndpointName> = AnswerOf<Name> extends { readonly data: infer Data } ? Data : never

type Arguments<Name extends EndpointName> = RequestOf<Name> & CallOptions

/** The contract's endpoints, each by its name. */
export interface Call {
  <Name extends EndpointName>(name: Name, request: Arguments<Name>): Promise<DataOf<Name>>
  /** The answer with its envelope, for what stands beside `data`. */
  readonly whole: <Name extends EndpointName>(name: Name, request: Arguments<Name>) => Promise<AnswerOf<Name>>
}

interface Endpoint {
  readonly method: string
  readonly params: Schema.Top | undefined
  readonly query: Schema.Top | undefined
  readonly payload: ReadonlyMap<string, { readonly schemas: ReadonlyArray<Schema.Top> }>
}

const endpoints: ReadonlyMap<string, { readonly group: string; readonly endpoint: Endpoint }> = new Map(
  Object.entries(V2.groups as unknown as Record<string, { readonly endpoints: Record<string, Endpoint> }>).flatMap(
    ([group, { endpoints }]) => Object.entries(endpoints).map(([name, endpoint]) => [name, { group, endpoint }])
  )
)

const IdempotencyKey = Context.Reference<string | undefined>("ballast/client/plain/IdempotencyKey", {
  defaultValue: () => undefined
})

const withKey = HttpClient.mapRequestEffect((request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(IdempotencyKey, (key) =>
    key === undefined ? request : HttpClientRequest.setHeader(request, "idempotency-key", key)
  )
)

const parseOptions = { errors: "all", onExcessProperty: "error" } as const

const read = (schema: Schema.Top | undefined, place: string, value: unknown) =>
  schema === undefined
    ? Effect.undefined
    : Schema.decodeUnknownEffect(schema as Schema.Codec<unknown>)(value, parseOptions).pipe(
        Effect.mapError((error) => notSent(error, place))
      )

const texts = (query: unknown) =>
  Object.fromEntries(
    Object.entries((query ?? {}) as Record<string, unknown>)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "number" ? String(value) : value])
  )

/** Codes of what may pass by itself. */
const passing: ReadonlySet<string> = new Set(["UNREACHABLE", "API_004", "API_500", "API_506"])
const longestPauseMs = 30_000
const defaultRetries = 2

const pauseMs = (error: BallastError, attempt: number): number =>
  Math.min(longestPauseMs, error.retryAfterSeconds === undefined ? 250 * 2 ** attempt : error.retryAfterSeconds * 1_000)

export const makeCall = (options: ConnectOptions): Call => {
  const { apiKey, baseUrl, fetch, retries = defaultRetries } = options
  const client = Effect.runSync(
    HttpApiClient.make(V2, { baseUrl: baseUrl.replace(/\/+$/u, ""), transformClient: withKey }).pipe(
      Effect.provide([apiKeyClientLayer(Redacted.make(apiKey)), FetchHttpClient.layer])
    )
  ) as unknown as Record<string, Record<string, (request: unknown) => Effect.Effect<unknown, unknown>>>

  const whole = (name: string, request: Record<string, unknown> & CallOptions) => {
    const { endpoint, group } = endpoints.get(name)!
    const { idempotencyKey, signal } = request
    const [payload] = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
    const once = Effect.gen(function* () {
      const sent = {
        params: yield* read(endpoint.params, "path", request["params"]),
        query: yield* read(endpoint.query, "query", texts(request["query"])),
        payload: yield* read(payload, "body", request["payload"])
      }
      return yield* client[group]![name]!(sent)
    }).pipe(Effect.mapError(fromFailure), Effect.provideService(IdempotencyKey, idempotencyKey), (effect) =>
      fetch === undefined ? effect : Effect.provideService(effect, FetchHttpClient.Fetch, fetch)
    )
    const isSafe = endpoint.method === "GET" || idempotencyKey !== undefined
    const attempt = (number: number): Effect.Effect<unknown, BallastError> =>
      Effect.catch(once, (error) =>
        isSafe && number < retries && passing.has(error.code)
          ? Effect.andThen(Effect.sleep(pauseMs(error, number)), attempt(number + 1))
          : Effect.fail(error)
      )
    return Effect.runPromise(attempt(0), signal === undefined ? {} : { signal })
  }

  const data = async (name: string, request: Record<string, unknown>) =>
    ((await whole(name, request)) as { readonly data: unknown }).data
  return Object.assign(data, { whole }) as unknown as Call
}
