/**
 * Input that is not valid, over Effect's RPC: the call is answered with the same error and the same details as on the
 * interface's wire, before it begins. The library itself would answer a defect, without details.
 */
import { Effect, Exit, Schema } from "effect"
import { Rpc, type RpcGroup, RpcMessage, type RpcServer } from "effect/rpc"
import { describedParsing, detailsOf } from "#domain/describeIssue.ts"
import { ValidationFailed } from "#domain/Errors.ts"
import { CallLog, unknownProcedure } from "#rpc/CallLog.ts"

type Protocol = RpcServer.Protocol["Service"]

interface Check {
  readonly read: (payload: unknown) => Effect.Effect<unknown, Schema.SchemaError>
  readonly encode: (exit: unknown) => Effect.Effect<unknown, Schema.SchemaError>
}

export const refusingInvalid = Effect.fnUntraced(function* <Rpcs extends Rpc.Any>(
  group: RpcGroup.RpcGroup<Rpcs>,
  protocol: Protocol
) {
  const log = yield* CallLog
  const checks = new Map<string, Check>()
  for (const procedure of group.requests.values() as Iterable<Rpc.AnyWithProps>) {
    checks.set(procedure._tag, {
      read: Schema.decodeUnknownEffect(protocol.codecFor(procedure.payloadSchema), describedParsing) as Check["read"],
      encode: Schema.encodeUnknownEffect(protocol.codecFor(Rpc.exitSchema(procedure))) as Check["encode"]
    })
  }

  const refuse = Effect.fnUntraced(function* (
    clientId: number,
    id: string | number,
    refusal: { readonly procedure: string; readonly encode: Check["encode"]; readonly error: Schema.SchemaError }
  ) {
    const failed = new ValidationFailed({
      message: "The request is not valid; details name each field",
      details: detailsOf(refusal.error.issue, "payload")
    })
    const exit = yield* Effect.orDie(refusal.encode(Exit.fail(failed)))
    const requestId = RpcMessage.RequestId(id)
    yield* log.refused({ procedure: refusal.procedure, callId: id }, failed)
    yield* protocol.send(clientId, { _tag: "Exit", requestId, exit: exit as RpcMessage.ResponseExitEncoded["exit"] })
  })

  const served: Protocol = {
    ...protocol,
    run: (f) =>
      protocol.run((clientId, message) => {
        if (message._tag !== "Request") return f(clientId, message)
        const { id, tag } = message
        const check = checks.get(tag)
        if (check === undefined)
          return Effect.andThen(
            log.refused({ procedure: undefined, callId: id }, unknownProcedure),
            f(clientId, message)
          )
        // What has no id or waits for no answer is the library's to answer.
        if (message.isNotification === true || (typeof id !== "string" && typeof id !== "number"))
          return f(clientId, message)
        return Effect.matchEffect(check.read(message.payload), {
          onSuccess: () => f(clientId, message),
          onFailure: (error) => refuse(clientId, id, { procedure: tag, encode: check.encode, error })
        })
      })
  }
  return served
})
