/**
 * The contract as types, and nothing at run time: what the plain client sends and is answered is JSON as the documents
 * of the API have it. The package has these types written out (`scripts/contractTypes.ts`), so that its users need no
 * Effect.
 */
import type { Schema, Stream } from "effect"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { Rpc, RpcGroup } from "effect/rpc"
import type * as Errors from "#domain/errors/Errors.ts"
import type { Frame as FrameSchema } from "#domain/stream/Frame.ts"
import type { TicketTarget as TargetSchema } from "#domain/stream/Ticket.ts"
import type { V2 } from "#http/v2/Api.ts"
import type { ClientProcedures } from "#rpc/ClientProcedures.ts"

type Groups = typeof V2 extends HttpApi.HttpApi<infer _Id, infer All> ? All : never
/** The stream of events is followed, not called. */
type Endpoint = Exclude<HttpApiGroup.Endpoints<Groups>, { readonly identifier: "streamEvents" }>

/** JSON form of a schema. The endpoint's schemas are wrapped in codecs whose own encoded form is any JSON. */
type Encoded<S> = [S] extends [never]
  ? undefined
  : S extends Schema.toCodecJson<infer Inner> | Schema.toCodecStringTree<infer Inner>
    ? Inner["Encoded"]
    : S extends Schema.Constraint
      ? S["Encoded"]
      : undefined

/** What each endpoint is sent and answers; `undefined` for a part that it does not take. Names are operation ids. */
export type Endpoints = {
  readonly [E in Endpoint as E["identifier"]]: {
    readonly params: Encoded<E["~Params"]>
    readonly query: Encoded<E["~Query"]>
    readonly payload: Encoded<E["~Payload"]>
    readonly answer: Encoded<E["~Success"]>
  }
}

type Procedure = RpcGroup.Rpcs<typeof ClientProcedures>
type Output<R extends Rpc.Any> = Rpc.Success<R> extends Stream.Stream<infer _A, infer _E, infer _R> ? "stream" : "once"
type SuccessOf<R extends Rpc.Any> =
  R extends Rpc.Rpc<infer _Tag, infer _Payload, infer Success, infer _Error, infer _Middleware, infer _Requires>
    ? Success extends { readonly success: infer Chunk extends Schema.Constraint }
      ? Chunk["Encoded"]
      : Success["Encoded"]
    : never
type InputOf<R extends Rpc.Any> =
  R extends Rpc.Rpc<infer _Tag, infer Payload, infer _Success, infer _Error, infer _Middleware, infer _Requires>
    ? [Payload["Encoded"]] extends [void]
      ? undefined
      : Payload["Encoded"]
    : never

/** What each procedure takes and answers, once or many times. */
export type Procedures = {
  readonly [R in Procedure as R["_tag"]]: {
    readonly answers: Output<R>
    readonly input: InputOf<R>
    readonly output: SuccessOf<R>
  }
}

type ErrorClasses = (typeof Errors)[keyof typeof Errors]
/** A code of the API's errors. */
export type ApiErrorCode = Extract<ErrorClasses, { readonly contract: { readonly code: string } }>["contract"]["code"]

/** A frame of the market-data stream. */
export type Frame = typeof FrameSchema.Encoded
/** What of the market-data stream is followed. */
export type TicketTarget = typeof TargetSchema.Encoded
