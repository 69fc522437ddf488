/** Answers a call of a socket that never begins, as its procedure answers what is not valid. */
import { Effect, Exit, Schema } from "effect"
import { Rpc, type RpcGroup, RpcMessage, type RpcServer } from "effect/rpc"
import type { ValidationFailed } from "#domain/errors/Errors.ts"

type Encode = (exit: unknown) => Effect.Effect<unknown, Schema.SchemaError>

/** True where the call was answered; what names no procedure or waits for no answer is the library's. */
export const makeRefuseCall = <Rpcs extends Rpc.Any>(
  group: RpcGroup.RpcGroup<Rpcs>,
  { codecFor, send }: Pick<RpcServer.Protocol["Service"], "codecFor" | "send">
) => {
  const encoders = new Map(
    [...(group.requests.values() as Iterable<Rpc.AnyWithProps>)].map((procedure) => [
      procedure._tag,
      Schema.encodeUnknownEffect(codecFor(Rpc.exitSchema(procedure))) as Encode
    ])
  )

  return Effect.fnUntraced(function* (
    clientId: number,
    { id, isNotification, tag }: RpcMessage.RequestEncoded,
    error: ValidationFailed
  ) {
    const encode = encoders.get(tag)
    if (encode === undefined || isNotification === true || (typeof id !== "string" && typeof id !== "number"))
      return false
    const exit = yield* Effect.orDie(encode(Exit.fail(error)))
    const requestId = RpcMessage.RequestId(id)
    yield* send(clientId, { _tag: "Exit", requestId, exit: exit as RpcMessage.ResponseExitEncoded["exit"] })
    return true
  })
}
