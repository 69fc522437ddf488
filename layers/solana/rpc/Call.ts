/**
 * A request to one of several endpoints: to the first that answers, and answers with what is new enough. How far they
 * are is known by the slots that their answers stand on (layers/provider/chainHeads.ts).
 */
import { Clock, Duration, Effect, Result } from "effect"
import { ChainHeads, oldReason } from "#layers/provider/chainHeads.ts"
import type { AnswerSchema } from "#layers/provider/makeFind.ts"
import type { Endpoint, EndpointFailure } from "#layers/solana/rpc/Endpoint.ts"

/** Time for which an endpoint that failed is asked after the others. */
const penalty = Duration.seconds(10)

interface InContext {
  readonly context: { readonly slot: number }
}

/** The schema of an answer that says of which slot it is. */
export type SlotSchema = AnswerSchema & { readonly Type: InContext }

export interface Request<S> {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
  readonly schema: S
}

export interface Call {
  readonly any: <S extends AnswerSchema>(request: Request<S>) => Effect.Effect<S["Type"], EndpointFailure>
  /** Takes the answer only where the confirmed slot that it stands on is new enough. */
  readonly at: <S extends SlotSchema>(
    request: Request<S>,
    notBefore: bigint
  ) => Effect.Effect<S["Type"], EndpointFailure>
}

const oldAnswer = (method: string, slot: bigint, least: bigint): EndpointFailure => ({
  reason: `${method}: ${oldReason(slot, least)}`,
  isAnswer: false,
  mayPass: true,
  isBehind: true
})

/** One address is often many machines, so a second request may meet another one. */
const requestsOfALoneEndpoint = 2

/** The endpoint that was asked, when, and when it had answered. */
interface Asked {
  readonly position: number
  readonly askedAt: bigint
  readonly now: bigint
}

const notConfigured: EndpointFailure = {
  reason: "no RPC endpoint is configured for Solana",
  isAnswer: true,
  mayPass: false
}

/**
 * The first result; or, of the failures, an old answer before all, and the error of a node rather than the timeout of
 * another. An endpoint that failed or is behind is asked last for a while.
 */
export const withFallback = (endpoints: ReadonlyArray<Endpoint>): Call => {
  const heads = new ChainHeads(endpoints.length)
  const isLone = endpoints.length === 1

  const positionsNow = (now: bigint): ReadonlyArray<number> => {
    if (isLone) return Array.from({ length: requestsOfALoneEndpoint }, () => 0)
    const lateness = (position: number) => (endpoints[position]!.avoidUntil > now ? 3 : heads.rank(position, now))
    return endpoints.map((_, position) => position).toSorted((a, b) => lateness(a) - lateness(b))
  }

  const ask = Effect.fnUntraced(function* <S extends AnswerSchema>(
    { method, params, schema }: Request<S>,
    problemOf: (result: S["Type"], asked: Asked) => EndpointFailure | undefined
  ) {
    const failures: Array<EndpointFailure> = []
    for (const position of positionsNow(yield* Clock.monotonicTimeNanos)) {
      const endpoint = endpoints[position]!
      const askedAt = yield* Clock.monotonicTimeNanos
      const result = yield* Effect.result(endpoint.call(method, params, schema))
      const now = yield* Clock.monotonicTimeNanos
      const failure = Result.isFailure(result) ? result.failure : problemOf(result.success, { position, askedAt, now })
      if (Result.isSuccess(result) && failure === undefined) return result.success
      failures.push(failure!)
      const { isAnswer, isBehind = false, pause = penalty } = failure!
      if (!isAnswer && !isBehind) {
        endpoint.avoidUntil = now + BigInt(Duration.toMillis(Duration.max(penalty, pause))) * 1_000_000n
      }
      if (isLone && !isBehind) break
    }
    const told = failures.find(({ isBehind }) => isBehind === true) ?? failures.find(({ isAnswer }) => isAnswer)
    return yield* Effect.fail(told ?? failures[0] ?? notConfigured)
  })

  return {
    any: (request) => ask(request, () => undefined),
    at: (request, notBefore) =>
      ask(request, ({ context }, asked) => {
        const block = BigInt(context.slot)
        const { least } = heads.judge({ ...asked, block, notBefore }, asked.now)
        return block < least ? oldAnswer(request.method, block, least) : undefined
      })
  }
}

/** One endpoint alone, held against nothing but what was asked of it. */
export const alone = ({ call }: Endpoint): Call => ({
  any: ({ method, params, schema }) => call(method, params, schema),
  at: ({ method, params, schema }, notBefore) =>
    Effect.filterOrFail(
      call(method, params, schema),
      ({ context }) => BigInt(context.slot) >= notBefore,
      ({ context }) => oldAnswer(method, BigInt(context.slot), notBefore)
    )
})
