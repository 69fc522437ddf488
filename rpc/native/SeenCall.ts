/** Middleware: around every call over Effect's RPC, which is measured, and logged when it is refused or fails. */
import { Clock, Context, Effect, Layer } from "effect"
import { RpcMiddleware } from "effect/rpc"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { CallLog } from "#rpc/CallLog.ts"

export class SeenCall extends RpcMiddleware.Service<SeenCall>()("ballast/rpc/native/SeenCall") {}

/** Calls of one request need not all have a caller, so each notes its own. */
const ownContext = (shared: RequestContext["Service"]): RequestContext["Service"] => ({
  ...shared,
  caller: undefined,
  get allowance() {
    return shared.allowance
  },
  set allowance(allowance) {
    shared.allowance = allowance
  }
})

export const SeenCallLive = Layer.effect(
  SeenCall,
  Effect.gen(function* () {
    const log = yield* CallLog
    const clock = yield* Clock.Clock

    return SeenCall.of((handled, { requestId, rpc }) =>
      Effect.withFiber((fiber) => {
        const shared = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
        const context = shared === undefined ? undefined : ownContext(shared)
        const call = { procedure: rpc._tag, callId: String(requestId), startedAt: clock.monotonicTimeNanosUnsafe() }
        return Effect.onExit(
          context === undefined ? handled : Effect.provideService(handled, RequestContext, context),
          (exit) => log.ended(call, exit, context)
        )
      })
    )
  })
)
