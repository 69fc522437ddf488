/**
 * The library's server of a group, on any of its protocols. Handlers read their input themselves, inside of their
 * middleware, so that who calls is asked first and input that is not valid is answered as on the interface's wire; the
 * library would read it before, and answer a defect. A call that is no stream is answered in time, or by a defect.
 */
import { Context, Effect, ErrorReporter, Layer, Schema, Stream } from "effect"
import { Rpc, RpcGroup, RpcMiddleware, RpcSchema, RpcServer } from "effect/rpc"
import { Unavailable } from "#domain/errors/Errors.ts"
import { AnswerDeadlines } from "#domain/request/AnswerDeadlines.ts"
import { CallLog, unknownProcedure } from "#rpc/CallLog.ts"
import { SeenCall } from "#rpc/native/SeenCall.ts"
import { inputReader } from "#rpc/input/readInput.ts"

/** Calls are bounded for each address; a bound of the server would let slow calls hold up all others. */
const serving = { concurrency: "unbounded", disableFatalDefects: true, disableTracing: true } as const

/** Middleware around all other: the deadline of a call. */
class InTime extends RpcMiddleware.Service<InTime>()("ballast/rpc/native/InTime", { error: Unavailable }) {}

const InTimeLive = Layer.effect(
  InTime,
  Effect.map(AnswerDeadlines, ({ within }) =>
    InTime.of((handled, { rpc }) => (RpcSchema.isStreamSchema(rpc.successSchema) ? handled : within(handled)))
  )
)

/** Any procedure, of which another one is made for any input. */
type Unread = Rpc.Rpc<string, typeof Schema.Unknown, Schema.Top, Schema.Top>

/** The client's mistake, or its other release; none of ours. */
class NoProcedure extends Error {
  override readonly [ErrorReporter.ignore] = true

  constructor(name: string) {
    super(`Unknown request tag: ${name}`)
  }
}

/** What is called in place of a procedure that there is not, with its name. No procedure has this name. */
const absent = Rpc.make("?", { payload: Schema.String })

/** Calls of procedures that there are not are calls too: the library would answer them while it reads the request. */
const namingAbsent = (tags: ReadonlySet<string>) =>
  Layer.effect(
    RpcServer.Protocol,
    Effect.map(RpcServer.Protocol, (protocol) => ({
      ...protocol,
      run: (f) =>
        protocol.run((clientId, message) =>
          message._tag === "Request" && !tags.has(message.tag)
            ? f(clientId, { ...message, tag: absent._tag, payload: String(message.tag).slice(0, 100) })
            : f(clientId, message)
        )
    }))
  )

type Handler = Rpc.Handler<string>
const handlerOf = ({ key }: Rpc.AnyWithProps) => Context.Service<Handler, Handler>(key)

/** Wraps a handler so that it takes input that nobody has decoded. */
const reading = (
  procedure: Rpc.AnyWithProps,
  handler: Handler,
  read: (input: unknown) => Effect.Effect<unknown, unknown>
): Handler => ({
  ...handler,
  handler: (input, call) => {
    const answered = Effect.map(read(input), (payload) => Rpc.unwrap(handler.handler(payload, call)))
    return RpcSchema.isStreamSchema(procedure.successSchema)
      ? Stream.unwrap(answered as Effect.Effect<Stream.Stream<unknown, unknown>, unknown>)
      : Effect.flatten(answered as Effect.Effect<Effect.Effect<{}, unknown>, unknown>)
  }
})

export const nativeServer = <Rpcs extends Rpc.Any>(group: RpcGroup.RpcGroup<Rpcs>) => {
  const procedures = [...(group.requests.values() as Iterable<Rpc.AnyWithProps>)]
  const unread = procedures.map((procedure) => (procedure as unknown as Unread).setPayload(Schema.Unknown))
  const served = RpcGroup.make(...unread)
    .middleware(InTime)
    .middleware(SeenCall)
    .merge(RpcGroup.make(absent))

  const handlers = Layer.effectContext(
    Effect.gen(function* () {
      const { codecFor } = yield* RpcServer.Protocol
      const given = yield* Effect.context<Rpc.ToHandler<Rpcs> | Rpc.Middleware<Rpcs>>()
      return procedures.reduce((context, procedure) => {
        const handler = Context.getUnsafe(given as Context.Context<Handler>, handlerOf(procedure))
        const read = inputReader(procedure, { codecFor, path: "payload" })
        return Context.add(context, handlerOf(procedure), reading(procedure, handler, read))
      }, given as Context.Context<Handler>) as typeof given
    })
  )
  const absence = RpcGroup.make(absent).toLayer(
    Effect.map(CallLog, (log) => ({
      "?": (name, { requestId }) =>
        Effect.andThen(
          log.refused({ procedure: undefined, callId: requestId }, unknownProcedure),
          Effect.die(new NoProcedure(name))
        )
    }))
  )

  type Served = Rpc.AddMiddleware<Rpcs, typeof InTime | typeof SeenCall> | typeof absent
  return RpcServer.layer(served as unknown as RpcGroup.RpcGroup<Served>, serving).pipe(
    Layer.provide([InTimeLive, handlers, absence, namingAbsent(new Set(group.requests.keys()))])
  )
}
