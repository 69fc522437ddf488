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
import { contractOf, type DomainError, errorFields, isDomainError, retryHeaders } from "#domain/errors/DomainError.ts"
import { BodyTooLarge, ValidationFailed } from "#domain/errors/Errors.ts"
import { CookieAnswer } from "#domain/identity/access/CookieAnswer.ts"
import { SessionCookie } from "#domain/identity/access/SessionCookie.ts"
import { IsAction } from "#rpc/actionProcedure.ts"
import { CallLog } from "#rpc/CallLog.ts"
import { mediaTypeProblem } from "#rpc/input/mediaType.ts"
import { IsRead } from "#rpc/publicProcedure.ts"
import { inputReader, notValid } from "#rpc/input/readInput.ts"
import { FrameOf } from "#rpc/execution/streamedProcedure.ts"
import { makeStreamAnswer } from "#rpc/execution/streamAnswer.ts"
import { AnswersWithToken, type TokenAnswer, tokenInCookie } from "#rpc/session/TokenAnswer.ts"

/** Where input, answer and error stand in their bodies. */
interface Form {
  readonly key: "json" | "input"
  readonly wrap: (content: unknown) => unknown
}

/** `meta` of clients that send it adds nothing to the input. */
const bodyReader = ({ key }: Form) => {
  const body = Schema.Struct({ [key]: Schema.optionalKey(Schema.Unknown), meta: Schema.optionalKey(Schema.Unknown) })
  const read = Schema.decodeUnknownEffect(body, { onExcessProperty: "error" })
  return (sent: unknown) => Effect.mapBoth(read(sent), { onFailure: notValid(key), onSuccess: (whole) => whole[key] })
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

export const failure = (error: DomainError, form: Form = jsonForm, status = contractOf(error).status) =>
  HttpServerResponse.jsonUnsafe(envelopeOf(form)(error), { status, headers: retryHeaders(error) })

const parse = (text: string, what: string) =>
  Effect.try({
    try: () => JSON.parse(text === "" ? "{}" : text) as unknown,
    catch: () => new ValidationFailed({ message: `${what} is not valid JSON` })
  })

/** The text of a body; it is refused as a whole before it is known whose it is. */
export const textOf = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.mapError(request.text, ({ reason }) =>
    reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
      ? new BodyTooLarge({ message: "The request body is larger than 64 KiB; send less" })
      : new ValidationFailed({ message: "The body cannot be read" })
  )

const queryOf = ({ url }: HttpServerRequest.HttpServerRequest): string => {
  const at = url.indexOf("?")
  return (at === -1 ? null : new URLSearchParams(url.slice(at + 1)).get("input")) ?? ""
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

  /** `input` is read when the middleware lets the call through. */
  return (input: Effect.Effect<unknown, ValidationFailed>, headers: Headers): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      const call = {
        rpc: procedure,
        client: new Rpc.ServerClient(0),
        requestId: RpcMessage.RequestId(0),
        headers,
        payload: undefined
      }
      const handled = Effect.flatMap(input, (payload) => {
        const answer = Rpc.unwrap(handler(payload, call))
        return (
          Stream.isStream(answer) ? boundStream(answer as Stream.Stream<unknown, unknown>) : answer
        ) as Effect.Effect<unknown, ValidationFailed>
      }) as Effect.Effect<never, never>
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
        const { successSchema } = procedure
        const isStream = RpcSchema.isStreamSchema(successSchema)
        const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(isStream ? successSchema.success : successSchema))
        const frameOf = Context.get(procedure.annotations, FrameOf)
        const answersWithToken = Context.get(procedure.annotations, AnswersWithToken)
        const call = callOf(procedure, services as Context.Context<never>)
        const form = formOf(procedure.annotations)
        const readBody = bodyReader(form)
        const readInput = inputReader(procedure, { codecFor: Schema.toCodecJson, path: form.key })
        const inputIn = (text: string, what: string) =>
          parse(text, what).pipe(
            Effect.flatMap(readBody),
            Effect.flatMap((input) => readInput(input ?? {}))
          )

        const posted = Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const text = yield* textOf(request)
          const problem = mediaTypeProblem(request.headers, text)
          if (problem !== undefined) return failure(problem, form, 415)
          return yield* answering(request, inputIn(text, "The body"))
        })
        const asked = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          answering(request, inputIn(queryOf(request), "The query parameter input"))
        )

        const answering = (
          { headers }: HttpServerRequest.HttpServerRequest,
          input: Effect.Effect<unknown, ValidationFailed>
        ) =>
          Effect.gen(function* () {
            const called = Effect.provideService(call(input, headers), CookieAnswer, true)
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

        const add = (method: "GET" | "POST", answer: typeof posted) =>
          router.add(
            method,
            pathOf(procedure._tag),
            Effect.catch(answer, (error) => Effect.succeed(failure(error, form))) as Effect.Effect<
              HttpServerResponse.HttpServerResponse,
              never,
              HttpServerRequest.HttpServerRequest
            >
          )
        yield* add("POST", posted)
        if (Context.get(procedure.annotations, IsRead)) yield* add("GET", asked)
      }
    })
  )
