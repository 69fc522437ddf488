/**
 * The wire of the interface: `POST /v1/rpc/<procedure>` with `{"json": <input>}` is answered with
 * `{"result": {"data": {"json": <output>}}}`, a failure with `{"error": {"json": {code, message, details?}}}` and its status.
 * A procedure that only reads is also answered on `GET /v1/rpc/<procedure>?input=<the same, URL-encoded>`.
 *
 * The procedures run on Effect's own RPC server without its envelope, so handlers and middleware are those of every other wire.
 */
import { Cause, Context, Deferred, Effect, Exit, Option, Schema, SchemaIssue } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Rpc, type RpcGroup, RpcMessage, RpcServer } from "effect/rpc"
import { Internal, ValidationFailed } from "#domain/Errors.ts"
import { IsRead } from "#rpc/publicProcedure.ts"
import { AnswersWithToken, SessionCookie, type TokenAnswer, tokenInCookie } from "#rpc/SessionCookie.ts"

/** What every error class of the domain tells of itself. */
const Explained = Schema.Struct({
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String))
})
export interface WireError extends Schema.Schema.Type<typeof Explained> {
  readonly constructor: { readonly contract?: { readonly code: string; readonly status: number } }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()
/** `meta` of clients that send it says nothing that the input's schema does not. */
const Body = Schema.Struct({ json: Schema.optionalKey(Schema.Unknown) })

/** Most problems that one answer lists, and most characters of each, since it may quote the request. */
const maxDetails = 50
const maxDetailLength = 300

const success = (json: unknown) => HttpServerResponse.jsonUnsafe({ result: { data: { json } } })

export const failure = (error: WireError) => {
  const { code, status } = error.constructor.contract ?? Internal.contract
  const { details, message } = error
  return HttpServerResponse.jsonUnsafe(
    { error: { json: { code, message, ...(details === undefined ? {} : { details }) } } },
    { status }
  )
}

const invalid = ({ issue }: Schema.SchemaError) =>
  new ValidationFailed({
    message: "Request validation failed",
    details: format(issue)
      .issues.slice(0, maxDetails)
      .map(({ message, path }) => {
        const line = `${(path ?? []).map(String).join(".") || "json"}: ${message}`
        return line.length > maxDetailLength ? `${line.slice(0, maxDetailLength)}...` : line
      })
  })

const parse = (text: string, what: string) =>
  Effect.try({
    try: () => JSON.parse(text === "" ? "{}" : text) as unknown,
    catch: () => new ValidationFailed({ message: `${what} is not valid JSON` })
  })

const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
  request.text.pipe(
    Effect.mapError(() => new ValidationFailed({ message: "The body cannot be read" })),
    Effect.flatMap((text) => parse(text, "The body"))
  )

const queryOf = (request: HttpServerRequest.HttpServerRequest) => {
  const at = request.url.indexOf("?")
  const input = at === -1 ? null : new URLSearchParams(request.url.slice(at + 1)).get("input")
  return parse(input ?? "", "The query parameter input")
}

type Procedure = Rpc.AnyWithProps

const pathOf = (tag: string) => `/v1/rpc/${tag}` as const

/** The routes of a group on this wire. */
export const routesOf = <Rpcs extends Rpc.Any>(
  group: RpcGroup.RpcGroup<Rpcs>
): ReadonlyArray<readonly ["GET" | "POST", string]> =>
  [...(group.requests.values() as Iterable<Procedure>)].flatMap(({ _tag, annotations }) => [
    ["POST", pathOf(_tag)] as const,
    ...(Context.get(annotations, IsRead) ? [["GET", pathOf(_tag)] as const] : [])
  ])

export const jsonWire = <Rpcs extends Rpc.Any>(group: RpcGroup.RpcGroup<Rpcs>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const cookie = yield* SessionCookie
      const waiting = new Map<number, Deferred.Deferred<unknown, unknown>>()
      const server = yield* RpcServer.makeNoSerialization(group, {
        disableFatalDefects: true,
        disableClientAcks: true,
        disableTracing: true,
        onFromServer: (message) =>
          Effect.sync(() => {
            if (message._tag !== "Exit") return
            const answer = waiting.get(message.clientId)
            if (answer !== undefined) Deferred.doneUnsafe(answer, message.exit as Exit.Exit<unknown, unknown>)
          })
      })
      let lastClient = 0

      const call = (tag: string, payload: unknown, headers: HttpServerRequest.HttpServerRequest["headers"]) =>
        Effect.suspend(() => {
          const clientId = ++lastClient
          const answer = Deferred.makeUnsafe<unknown, unknown>()
          waiting.set(clientId, answer)
          const request = { _tag: "Request", id: RpcMessage.RequestId(0), tag, payload, headers } as const
          return server.write(clientId, request as never).pipe(
            Effect.andThen(server.write(clientId, { _tag: "Eof" })),
            Effect.andThen(Deferred.await(answer)),
            Effect.onInterrupt(() => server.disconnect(clientId)),
            Effect.ensuring(Effect.sync(() => waiting.delete(clientId)))
          )
        })

      for (const procedure of group.requests.values() as Iterable<Procedure>) {
        const codec = Schema.toCodecJson(procedure.payloadSchema)
        const decodeQuickly = Schema.decodeUnknownEffect(codec)
        const decodeThoroughly = Schema.decodeUnknownEffect(codec, { errors: "all" })
        // Looking for every problem costs three times as much, and most inputs have none.
        const decode = (input: unknown) => Effect.catch(decodeQuickly(input), () => decodeThoroughly(input))
        const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(procedure.successSchema))
        const answersWithToken = Context.get(procedure.annotations, AnswersWithToken)
        const hasInput = procedure.payloadSchema.ast._tag !== "Void"

        const answering = (
          inputOf: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<unknown, ValidationFailed>
        ) =>
          Effect.gen(function* () {
            const request = yield* HttpServerRequest.HttpServerRequest
            const sent = yield* inputOf(request)
            const body = yield* Effect.mapError(Schema.decodeUnknownEffect(Body)(sent), invalid)
            const payload = hasInput ? yield* Effect.mapError(decode(body.json ?? {}), invalid) : undefined
            const exit = yield* Effect.exit(call(procedure._tag, payload, request.headers))
            if (Exit.isSuccess(exit)) {
              const json = yield* Effect.orDie(encode(exit.value))
              return answersWithToken ? tokenInCookie(cookie, json as TokenAnswer, success) : success(json)
            }
            const expected = Cause.findErrorOption(exit.cause)
            // A defect: the fallback of the server answers, and it is reported.
            if (Option.isNone(expected)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>)
            return failure(expected.value as WireError)
          }).pipe(Effect.catch((error) => Effect.succeed(failure(error as WireError))))

        const add = (method: "GET" | "POST", handle: ReturnType<typeof answering>) =>
          router.add(
            method,
            pathOf(procedure._tag),
            handle as typeof handle & Effect.Effect<HttpServerResponse.HttpServerResponse>
          )
        yield* add("POST", answering(bodyOf))
        if (Context.get(procedure.annotations, IsRead)) yield* add("GET", answering(queryOf))
      }
    })
  )
