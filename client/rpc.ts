/**
 * `ballast/rpc`: the procedures of people who sign in with a wallet, and of public market data. `ClientProcedures` are
 * the groups, `layerProtocol` is a ready protocol for a client of them, `makeProcedures` such a client, and
 * `connectProcedures` the plain face: promises, async iterators and one class of errors.
 *
 * ```ts
 * import { connectProcedures } from "ballast/rpc"
 *
 * const anybody = connectProcedures({ baseUrl: "https://api.ballast.example" })
 * const { nonce } = await anybody.call("identity.nonce", undefined)
 * ```
 */
import { Context, Effect, Layer, ManagedRuntime, Redacted, Stream } from "effect"
import type { Rpc, RpcGroup } from "effect/rpc"
import { fromFailure } from "#client/plain/BallastError.ts"
import { makeProcedures } from "#rpc/client.ts"
import type { ClientProcedures } from "#rpc/ClientProcedures.ts"

export { BallastError, type ErrorCode } from "#client/plain/BallastError.ts"
export { layerProtocol, makeProcedures, type ProcedureOptions } from "#rpc/client.ts"
export { ClientProcedures } from "#rpc/ClientProcedures.ts"

type Procedures = RpcGroup.Rpcs<typeof ClientProcedures>
type Named<Name> = Rpc.ExtractTag<Procedures, Name & string>

/** Procedures that answer many times. */
type Streamed = Procedures extends infer R
  ? R extends Rpc.Any
    ? Rpc.Success<R> extends Stream.Stream<infer _A, infer _E, infer _R>
      ? R["_tag"]
      : never
    : never
  : never
/** Procedures that answer once. */
export type ProcedureName = Exclude<Procedures["_tag"], Streamed>

export interface ConnectProceduresOptions {
  readonly baseUrl: string
  /** A wallet session's token, as `identity.signIn` answers it. */
  readonly token?: string
}

export interface PlainProcedures {
  /** `undefined` as the input of procedures that take none. */
  readonly call: <Name extends ProcedureName>(
    name: Name,
    input: Rpc.PayloadConstructor<Named<Name>>
  ) => Promise<Rpc.Success<Named<Name>>>
  /** Leaving the loop ends the call. */
  readonly stream: <Name extends Streamed>(
    name: Name,
    input: Rpc.PayloadConstructor<Named<Name>>
  ) => AsyncIterable<Rpc.SuccessChunk<Named<Name>>>
  /** The same service as who holds the token. */
  readonly as: (token: string) => PlainProcedures
  /** Ends what is open. */
  readonly close: () => Promise<void>
}

/** Any call of the client, by name. */
interface Flat {
  (name: string, input: unknown): Effect.Effect<unknown, unknown> & Stream.Stream<unknown, unknown>
}

class Client extends Context.Service<Client, Flat>()("ballast/client/rpc/Client") {}

export const connectProcedures = ({ baseUrl, token }: ConnectProceduresOptions): PlainProcedures => {
  const made = makeProcedures({
    baseUrl: baseUrl.replace(/\/+$/u, ""),
    ...(token === undefined ? {} : { token: Redacted.make(token) })
  })
  const runtime = ManagedRuntime.make(
    Layer.effect(
      Client,
      Effect.map(made, (flat) => flat as unknown as Flat)
    )
  )
  const plain = {
    call: (name: string, input: unknown) =>
      runtime.runPromise(
        Effect.mapError(
          Effect.flatMap(Client, (call) => call(name, input)),
          fromFailure
        )
      ),
    stream: (name: string, input: unknown) => ({
      async *[Symbol.asyncIterator]() {
        const context = await runtime.context()
        const frames = Stream.unwrap(Effect.map(Client, (call) => call(name, input)))
        yield* Stream.toAsyncIterable(frames.pipe(Stream.mapError(fromFailure), Stream.provideContext(context)))
      }
    }),
    as: (other: string) => connectProcedures({ baseUrl, token: other }),
    close: () => runtime.dispose()
  }
  return plain as unknown as PlainProcedures
}
