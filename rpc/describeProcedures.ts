/** What the published descriptions say of procedures, read off the groups that the wires serve. */
import { Context, type Schema } from "effect"
import { type Rpc, type RpcGroup, RpcSchema } from "effect/rpc"
import * as Errors from "#domain/errors/Errors.ts"
import type { DescribedProcedure, ProcedureError } from "#http/docs/DescribedProcedures.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { IsAction } from "#rpc/actionProcedure.ts"
import { AdminAccess } from "#rpc/AdminAccess.ts"
import { IsRead } from "#rpc/publicProcedure.ts"
import { ExecutionAccess } from "#rpc/session/ExecutionAccess.ts"
import { IsUncounted, PresentedAccess, SessionAccess } from "#rpc/session/SessionAccess.ts"

const classes = new Set<unknown>(Object.values(Errors))

/** The classes of a schema of errors: one of them, or a union. */
const errorsIn = (schema: Schema.Top): ReadonlyArray<ProcedureError> => {
  if (classes.has(schema)) return [schema as unknown as ProcedureError]
  return "members" in schema ? (schema.members as ReadonlyArray<Schema.Top>).flatMap(errorsIn) : []
}

const security = new Map<unknown, DescribedProcedure["security"]>([
  [AdminAccess, ["operator"]],
  [ExecutionAccess, ["apiKey", "session"]],
  [PresentedAccess, ["session"]],
  [SessionAccess, ["session"]]
])

/** Middleware that counts a call for its sender. */
const counting = [ExecutionAccess, PresentedAccess, SessionAccess]

const describe = (procedure: Rpc.AnyWithProps): DescribedProcedure => {
  const { _tag: tag, annotations, errorSchema, middlewares, payloadSchema, successSchema } = procedure
  const isStream = RpcSchema.isStreamSchema(successSchema)
  const own = isStream ? successSchema.error : errorSchema
  const counts =
    counting.some((access) => (middlewares as ReadonlySet<unknown>).has(access)) &&
    !Context.get(annotations, IsUncounted)
  const declared = [own, ...[...middlewares].map(({ error }) => error)].flatMap(errorsIn)
  return {
    tag,
    input: payloadSchema.ast._tag === "Void" ? undefined : payloadSchema,
    output: isStream ? successSchema.success : successSchema,
    // Every call can be malformed, too long, and one too many.
    errors: [...new Set([...declared, Errors.ValidationFailed, Errors.BodyTooLarge, Errors.RateLimited])],
    isRead: Context.get(annotations, IsRead),
    isAction: Context.get(annotations, IsAction),
    isStream,
    security: [...middlewares].flatMap((middleware) => security.get(middleware) ?? []),
    tier: counts ? Context.get(annotations, RateTier) : undefined
  }
}

export const describeProcedures = <Rpcs extends Rpc.Any>(
  group: RpcGroup.RpcGroup<Rpcs>
): ReadonlyArray<DescribedProcedure> => [...(group.requests.values() as Iterable<Rpc.AnyWithProps>)].map(describe)
