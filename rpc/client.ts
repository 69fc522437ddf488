/**
 * The typed client of the procedures, over Effect's RPC: `client("assets.searchForTokens", { q: "weth" })`. It is
 * derived from the contract, so it cannot drift from the service.
 *
 * A call fails with a class of `Errors.ts` or with `RpcClientError`, and with nothing else: input that is not
 * valid is `ValidationFailed`, before it is sent, and a fault of the service is `Internal`.
 */
import { Effect, flow, Layer, type Redacted, type SchemaIssue, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { type Rpc, RpcClient, type RpcClientError, type RpcGroup, RpcSchema, RpcSerialization } from "effect/rpc"
import { detailsOf } from "#domain/errors/describeIssue.ts"
import { Internal, ValidationFailed } from "#domain/errors/Errors.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { hiddenDefect } from "#rpc/publicProcedure.ts"

export interface ProcedureOptions {
  /** The API's, without a slash at the end. */
  readonly baseUrl: string
  /** A wallet session's, for the procedures that need one. */
  readonly token?: Redacted.Redacted
  /** Whether the browser sends cookies, as of `fetch`; `include` for a session in a cookie of another origin. */
  readonly credentials?: RequestCredentials
}

/** The protocol that the service speaks, for clients of any group of its procedures. */
export const layerProtocol = ({ baseUrl, credentials, token }: ProcedureOptions): Layer.Layer<RpcClient.Protocol> => {
  // The library ends the URL with a slash, and to the service that is another path.
  const addressed = HttpClientRequest.setUrl(`${baseUrl}/v1/rpc`)
  const signed = token === undefined ? addressed : flow(addressed, HttpClientRequest.bearerToken(token))
  const init = credentials === undefined ? {} : { credentials }
  const withInit = <E, R>(client: HttpClient.HttpClient.With<E, R>) =>
    // The requirement is a reference, which nobody has to provide.
    HttpClient.transformResponse(client, Effect.provideService(FetchHttpClient.RequestInit, init)) as typeof client
  return RpcClient.layerProtocolHttp({
    url: `${baseUrl}/v1/rpc`,
    transformClient: (client) => withInit(HttpClient.mapRequest(client, signed))
  }).pipe(Layer.provide([FetchHttpClient.layer, RpcSerialization.layerNdjson]))
}

type Procedures = RpcGroup.Rpcs<typeof ClientProcedures>

/** A call of any procedure, by its name. */
export type ProcedureClient = RpcClient.RpcClient.Flat<Procedures, RpcClientError.RpcClientError | Internal>

/** Procedures without the types of each. */
type Call = (name: string, input: unknown, options?: object) => Effect.Effect<unknown, unknown, never>

const invalid = (issue: SchemaIssue.Issue) =>
  new ValidationFailed({
    message: "The request is not valid and was not sent; details name each field",
    details: detailsOf(issue, "payload")
  })

/** A fault of the service has no details; what else dies is a fault of the program itself. */
const faultOf = (defect: unknown) =>
  defect === hiddenDefect
    ? Effect.fail(
        new Internal({ message: "The service has a fault; it was reported, and the call may be tried again" })
      )
    : Effect.die(defect)

/** The library's client dies of what is no declared error of a procedure. */
const failing = (call: Call): Call => {
  const procedures = ClientProcedures.requests as ReadonlyMap<string, unknown> as ReadonlyMap<string, Rpc.AnyWithProps>
  return (name, input, options) => {
    const { payloadSchema, successSchema } = procedures.get(name)!
    const made = Effect.mapError(payloadSchema.makeEffect(input, { parseOptions: { errors: "all" } }), invalid)
    const called = () => call(name, input, options)
    if (!RpcSchema.isStreamSchema(successSchema) || (options !== undefined && "asQueue" in options))
      return Effect.andThen(made, called).pipe(Effect.catchDefect(faultOf))
    const stream = Stream.unwrap(Effect.map(made, () => called() as unknown as Stream.Stream<unknown, unknown>))
    return stream.pipe(
      Stream.catchDefect((defect) => Stream.fromEffect(faultOf(defect)))
    ) as unknown as ReturnType<Call>
  }
}

/** Open until the scope closes. */
export const makeProcedures = Effect.fnUntraced(function* (options: ProcedureOptions) {
  const protocol = yield* Layer.build(layerProtocol(options))
  const client = yield* Effect.provideContext(RpcClient.make(ClientProcedures, { flatten: true }), protocol)
  return failing(client as unknown as Call) as unknown as ProcedureClient
})
