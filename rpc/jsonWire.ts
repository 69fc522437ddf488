/**
 * The wire of the interface: `POST /v1/rpc/<procedure>` with `{"json": <input>}` is answered with
 * `{"result": {"data": {"json": <output>}}}`, a failure with `{"error": {"json": {code, message, details?}}}` and its
 * status. A procedure that only reads is also answered on `GET /v1/rpc/<procedure>?input=<the same, URL-encoded>`. A
 * procedure by which an owner acts (`IsAction`) has `input` in place of `json`, and none around its answer and its
 * error.
 *
 * Handlers and middleware are those of every other wire. A call runs in its request's own fiber, so it ends when the
 * client goes.
 */
import { Cause, Context, Effect, Layer, Option, Schema, Scope, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Rpc, type RpcGroup, RpcMessage, RpcSchema } from "effect/rpc"
import { describedParsing, detailsOf } from "#domain/describeIssue.ts"
import { contractOf, type DomainError, errorFields, isDomainError, retryHeaders } from "#domain/DomainError.ts"
import { BodyTooLarge, ValidationFailed } from "#domain/Errors.ts"
import { SessionCookie } from "#domain/identity/access/SessionCookie.ts"
import { IsAction } from "#rpc/actionProcedure.ts"
import { CallLog } from "#rpc/CallLog.ts"
import { IsRead } from "#rpc/publicProcedure.ts"
import { FrameOf } from "#rpc/execution/streamedProcedure.ts"
import { makeStreamAnswer } from "#rpc/execution/streamAnswer.ts"
import { AnswersWithToken, type TokenAnswer, tokenInCookie } from "#rpc/session/TokenAnswer.ts"

/** `meta` of clients that send it adds nothing to the input's schema. */
const Body = Schema.Struct({ json: Schema.optionalKey(Schema.Unknown), input: Schema.optionalKey(Schema.Unknown) })

/** Where input, answer and error stand in their bodies. */
interface Form {
  readonly key: "json" | "input"
  readonly wrap: (content: unknown) => unknown
}

const jsonForm: Form = { key: "json", wrap: (json) => ({ json }) }
const actionForm: Form = { key: "input", wrap: (content) => content }

const success =
  ({ wrap }: Form) =>
  (content: unknown) =>
    HttpServerResponse.jsonUnsafe({ result: { data: wrap(content) } })

/** The body of an answer that refuses a call. */
const envelopeIn =
  ({ wrap }: Form) =>
  (error: DomainError) => ({ error: wrap(errorFields(error)) })

export const procedureEnvelope = envelopeIn(jsonForm)
const actionEnvelope = envelopeIn(actionForm)

const formOf = (annotations: Context.Context<never>): Form =>
  Context.get(annotations, IsAction) ? actionForm : jsonForm

const envelopeOf = (form: Form) => (form === actionForm ? actionEnvelope : procedureEnvelope)

export const failure = (error: DomainError, form: Form = jsonForm) =>
  HttpServerResponse.jsonUnsafe(envelopeOf(form)(error), {
    status: contractOf(error).status,
    headers: retryHeaders(error)
  })

const invalid =
  (place: string) =>
  ({ issue }: Schema.SchemaError) =>
    new ValidationFailed({
      message: "The request is not valid; details name each field",
      details: detailsOf(issue, place)
    })

const parse = (text: string, what: string) =>
  Effect.try({
    try: () => JSON.parse(text === "" ? "{}" : text) as unknown,
    catch: () => new ValidationFailed({ message: `${what} is not valid JSON` })
  })

const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
  request.text.pipe(
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? new BodyTooLarge({ message: "The request body is larger than 64 KiB; send less" })
        : new ValidationFailed({ message: "The body cannot be read" })
    ),
    Effect.flatMap((text) => parse(text, "The body"))
  )

const queryOf = (request: HttpServerRequest.HttpServerRequest) => {
  const at = request.url.indexOf("?")
  const input = at === -1 ? null : new URLSearchParams(request.url.slice(at + 1)).get("input")
  return parse(input ?? "", "The query parameter input")
}

/** The answer to an error; a defect is the server's fallback to answer, which also reports it. */
const refused = (cause: Cause.Cause<unknown>, form: Form) =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => Effect.failCause(cause as Cause.Cause<never>),
    onSome: (error) => (isDomainError(error) ? Effect.succeed(failure(error, form)) : Effect.die(error))
  })

type Procedure = Rpc.AnyWithProps

const pathOf = (tag: string) => `/v1/rpc/${tag}` as const

/** A route, and the body of its answers that refuse. */
export type ProcedureRoute = readonly ["GET" | "POST", path: string, envelope: typeof procedureEnvelope]

/** The routes of a group on this wire. */
export const routesOf = <Rpcs extends Rpc.Any>(group: RpcGroup.RpcGroup<Rpcs>): ReadonlyArray<ProcedureRoute> =>
  [...(group.requests.values() as Iterable<Procedure>)].flatMap(({ _tag, annotations }) => {
    const envelope = envelopeOf(formOf(annotations))
    return [
      ["POST", pathOf(_tag), envelope] as const,
      ...(Context.get(annotations, IsRead) ? [["GET", pathOf(_tag), envelope] as const] : [])
    ]
  })

type Headers = HttpServerRequest.HttpServerRequest["headers"]

/** A stream that runs with what middleware has provided. */
const boundStream = (stream: Stream.Stream<unknown, unknown>) =>
  Effect.contextWith((context: Context.Context<never>) => Effect.succeed(Stream.provideContext(stream, context)))

/** A procedure's handler inside its middleware, out of the services of the layer that serves it. */
const callOf = (procedure: Procedure, services: Context.Context<never>) => {
  const { context, handler } = Context.getUnsafe(
    services as Context.Context<Rpc.Handler<string>>,
    Context.Service<Rpc.Handler<string>, Rpc.Handler<string>>(procedure.key)
  )
  // The scope is the request's: what a handler opens is closed with it.
  const own = Context.omit(Scope.Scope, Layer.CurrentMemoMap)(context)
  const middlewares = [...procedure.middlewares].map((middleware) => Context.getUnsafe(services, middleware))

  return (payload: unknown, headers: Headers): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      const call = {
        rpc: procedure,
        client: new Rpc.ServerClient(0),
        requestId: RpcMessage.RequestId(0),
        headers,
        payload
      }
      const answer = handler(payload, call)
      const unwrapped = Rpc.isWrapper(answer) ? answer.value : answer
      const handled = (
        Stream.isStream(unwrapped) ? boundStream(unwrapped as Stream.Stream<unknown, unknown>) : unwrapped
      ) as Effect.Effect<never, never>
      return middlewares.reduce<Effect.Effect<never, never>>(
        (effect, middleware) => middleware(effect, call) as Effect.Effect<never, never>,
        Effect.provideContext(handled, own)
      )
    })
}

export const jsonWire = <Rpcs extends Rpc.Any>(group: RpcGroup.RpcGroup<Rpcs>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const cookie = yield* SessionCookie
      const log = yield* CallLog
      const answerStream = yield* makeStreamAnswer
      const services = yield* Effect.context<Rpc.ToHandler<Rpcs> | Rpc.Middleware<Rpcs>>()

      for (const procedure of group.requests.values() as Iterable<Procedure>) {
        const codec = Schema.toCodecJson(procedure.payloadSchema)
        const decodeQuickly = Schema.decodeUnknownEffect(codec)
        const decodeThoroughly = Schema.decodeUnknownEffect(codec, describedParsing)
        // Finding every problem costs three times as much, and most inputs have none.
        const decode = (input: unknown) => Effect.catch(decodeQuickly(input), () => decodeThoroughly(input))
        const { successSchema } = procedure
        const isStream = RpcSchema.isStreamSchema(successSchema)
        const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(isStream ? successSchema.success : successSchema))
        const frameOf = Context.get(procedure.annotations, FrameOf)
        const answersWithToken = Context.get(procedure.annotations, AnswersWithToken)
        const call = callOf(procedure, services as Context.Context<never>)
        const form = formOf(procedure.annotations)
        const hasInput = procedure.payloadSchema.ast._tag !== "Void"

        const answering = (
          inputOf: (
            request: HttpServerRequest.HttpServerRequest
          ) => Effect.Effect<unknown, BodyTooLarge | ValidationFailed>
        ) =>
          Effect.gen(function* () {
            const request = yield* HttpServerRequest.HttpServerRequest
            const sent = yield* inputOf(request)
            const body = yield* Effect.mapError(Schema.decodeUnknownEffect(Body)(sent), invalid(form.key))
            const payload = hasInput
              ? yield* Effect.mapError(decode(body[form.key] ?? {}), invalid(form.key))
              : undefined
            const called = call(payload, request.headers)
            if (isStream)
              return yield* answerStream({
                stream: Stream.unwrap(called as Effect.Effect<Stream.Stream<unknown, unknown>, unknown>),
                frameOf,
                write: (value) =>
                  Effect.map(Effect.orDie(encode(value)) as Effect.Effect<unknown>, (data) =>
                    JSON.stringify({ result: { data: form.wrap(data) } })
                  ),
                writeError: (error) => JSON.stringify(envelopeOf(form)(error))
              })
            const json = yield* Effect.orDie(encode(yield* called))
            return answersWithToken ? tokenInCookie(cookie, json as TokenAnswer, success(form)) : success(form)(json)
          }).pipe(
            log.measured(procedure._tag),
            Effect.catchCause((cause) => refused(cause, form))
          )

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
