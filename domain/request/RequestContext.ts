/** What the service notes about the request that it is answering. One object a request; provided to every route. */
import { Context, Effect } from "effect"
import type { Caller } from "#domain/identity/Caller.ts"
import type { Allowance } from "#domain/effects/fixedWindows.ts"

/**
 * What is noted about a request while it is answered.
 *
 * **When to use**
 *
 * Use in middleware of every wire, to note whose request it is and which limit its answer shows.
 */
export class RequestContext extends Context.Service<
  RequestContext,
  {
    /**
     * Trace id of the request, 32 hex digits; the same in every service that takes part. Sent as `X-Correlation-Id`.
     */
    readonly correlationId: string
    /** Unique to this answer. Sent as `X-Request-Id`. */
    readonly requestId: string
    /** What requests from the client's address are counted under. */
    readonly address: string
    /** Monotonic nanoseconds. */
    readonly startedAt: bigint
    /** The limit to show in the headers: the tier's once it was counted, until then the global one. */
    allowance: Allowance | undefined
    /** Whose key it was, once that is known; for the request log. */
    caller: Pick<Caller["Service"], "tenantId" | "apiKeyId"> | undefined
    /** Whether its answer has not come in time. */
    isLate: boolean
    /** Ends the wait for its answer, which has come, or which lasts. */
    endWait: () => void
  }
>()("ballast/domain/request/RequestContext") {}

/** Notes whose key a request has. What contains no request of its own, as a call over a socket, has nothing to note. */
export const noteCaller = ({ apiKeyId, tenantId }: Caller["Service"]): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const context = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
    if (context !== undefined) context.caller = { tenantId, apiKeyId }
    return Effect.void
  })
