/**
 * Requests to the endpoints of one chain, the first that answers of those that follow it. One that gives no answer, or
 * an answer as of an old block, is passed over, and asked after the others while that is so.
 */
import { Clock, Duration, Effect, Exit, Metric } from "effect"
import type { PublicClient } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { agedReason, type ChainHeads, oldReason } from "#layers/provider/chainHeads.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { describeRpcFailure, rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"

/**
 * Blocks by which an endpoint of a chain was too old when it answered last; 0 while it follows the chain. Attributes:
 * `chain`, `endpoint` (its number in `RPC_URL_<chainId>`).
 */
export const chainEndpointBehind = Metric.gauge("ballast_chain_endpoint_behind", {
  description: "Blocks by which an endpoint of a chain is behind",
  attributes: { unit: "{block}" }
})

/** How long an endpoint that gave no answer is tried after the others. */
const penalty = Duration.seconds(10)

export interface Endpoint {
  readonly client: PublicClient
  /** Its position among those of the chain. */
  readonly position: number
  /** Monotonic nanoseconds until which it is tried last. */
  avoidUntil: bigint
}

export type Send<A> = (client: PublicClient) => Promise<A>

/** How new an answer must be that stands on the latest block. */
export interface Freshness {
  /** The first block that does; as far as the chain was seen to be, when left out. */
  readonly notBefore?: bigint | undefined
  /** Where no endpoint has a newer one, an old answer is one all the same: whoever asked checks its block. */
  readonly takesOld?: boolean | undefined
}

/** The block that an answer stands on, where it stands on the latest. */
export interface Shown<A> extends Freshness {
  readonly blockOf: (answer: A) => bigint
  /** Seconds since 1970 of that block, where the answer says so. */
  readonly timeOf?: (answer: A) => bigint
  /** How an old answer that is taken says why it is old. */
  readonly markOld?: (answer: A, old: OldAnswer) => A
}

export interface OldAnswer {
  readonly reason: string
  /** Whoever asks: it is not only before the block that this asker needs. */
  readonly isOldForAll: boolean
}

/** What is asked. `method` is the JSON-RPC method that `send` calls. */
export type Asked<A> = readonly [method: string, send: Send<A>, shown?: Shown<A> | undefined]

export interface Failure {
  readonly reason: string
  /** The node itself answered with an error; the endpoint works. */
  readonly isAnswer: boolean
  /** It answered as of an old block. */
  readonly isBehind: boolean
}

/** Those that are asked, and what is known of their chain. */
export interface Endpoints {
  readonly chainId: ChainId
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly heads: ChainHeads
  /** How old a block may be that no other endpoint shows as the latest, in seconds; undefined: of any age. */
  readonly maxAgeSeconds: bigint | undefined
  /** False where each endpoint is to say what it sees, however old that is. */
  readonly refusesOld: boolean
}

interface Answered<A> {
  readonly endpoint: Endpoint
  readonly answer: A
  readonly block: bigint
  readonly old: OldAnswer
}

const askOne = <A>(endpoint: Endpoint, method: string, send: Send<A>) =>
  Effect.tryPromise({
    try: () => send(endpoint.client),
    catch: (error): Failure => ({
      reason: describeRpcFailure(method, error),
      isAnswer: rpcErrorOf(error) !== undefined,
      isBehind: false
    })
  }).pipe(
    Effect.tapError(({ isAnswer }) =>
      isAnswer
        ? Effect.void
        : Effect.map(Clock.monotonicTimeNanos, (now) => {
            endpoint.avoidUntil = now + BigInt(Duration.toMillis(penalty)) * 1_000_000n
          })
    )
  )

/** Endpoints in the order in which they are asked. */
const ordered = ({ endpoints, heads }: Endpoints, now: bigint): ReadonlyArray<Endpoint> => {
  const rank = ({ avoidUntil, position }: Endpoint) => (avoidUntil > now ? 3 : heads.rank(position, now))
  return endpoints.toSorted((one, other) => rank(one) - rank(other))
}

/** Says once that an endpoint is behind, and that it follows its chain again; the metric says which. */
const report = Effect.fnUntraced(function* ({ chainId, heads }: Endpoints, position: number, wasBehind: boolean) {
  const { blocksBehind = 0n } = heads.heads(yield* Clock.monotonicTimeNanos)[position] ?? {}
  if (blocksBehind === 0n && !wasBehind) return
  const endpoint = String(position + 1)
  const attributes = { chain: String(chainId), endpoint }
  yield* Metric.update(Metric.withAttributes(chainEndpointBehind, attributes), Number(blocksBehind))
  if (blocksBehind > 0n && !wasBehind)
    yield* Effect.logWarning(
      `Endpoint ${endpoint} of chain ${chainId} is ${blocksBehind} blocks behind; the others are asked before it`
    )
})

/** An endpoint that takes longer has no say in a comparison. */
const comparedWithin = Duration.seconds(1)
/** Time for which an endpoint without an answer is not compared. */
const uncomparedFor = Duration.seconds(60)

/**
 * Asks all endpoints of a chain for their latest blocks at one moment, so that one of them is known to be behind before
 * anything is read from it.
 */
export const compareEndpoints = (target: Endpoints) => {
  const silentUntil = new Map<number, bigint>()
  return Effect.gen(function* () {
    const { endpoints, heads } = target
    const now = yield* Clock.monotonicTimeNanos
    const before = heads.heads(now)
    const answers = yield* Effect.forEach(
      endpoints.filter(({ position }) => (silentUntil.get(position) ?? 0n) <= now),
      (endpoint) =>
        askOne(endpoint, "eth_getBlockByNumber", (client) => client.getBlock()).pipe(
          withinRealTime(comparedWithin, () => ({ reason: "no answer in time", isAnswer: false, isBehind: false })),
          Effect.map(({ number, timestamp }) => [
            { position: endpoint.position, block: number, askedAt: now, time: timestamp }
          ]),
          Effect.catch(() =>
            Effect.sync(() => {
              silentUntil.set(endpoint.position, now + BigInt(Duration.toMillis(uncomparedFor)) * 1_000_000n)
              return []
            })
          )
        ),
      { concurrency: "unbounded" }
    )
    heads.compare(answers.flat(), yield* Clock.monotonicTimeNanos)
    for (const { position } of endpoints) yield* report(target, position, (before[position]?.blocksBehind ?? 0n) > 0n)
  })
}

/**
 * The first answer that is new enough. Behind one address are often several machines, so those whose answer was old are
 * asked once more. Else, of the failures, the error of a node or an old answer rather than the timeout of another.
 */
export const askInTurn = Effect.fnUntraced(function* <A>(target: Endpoints, ...[method, send, shown]: Asked<A>) {
  const { heads, maxAgeSeconds, refusesOld } = target
  const failures: Array<Failure> = []
  let newest: Answered<A> | undefined

  /** Seconds by which the answer's block is older than the pace of the chain allows; undefined where it is not. */
  const agedBy = Effect.fnUntraced(function* (position: number, answer: A, { blockOf, timeOf }: Shown<A>) {
    if (maxAgeSeconds === undefined || timeOf === undefined) return undefined
    const age = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1_000)) - timeOf(answer)
    const now = yield* Clock.monotonicTimeNanos
    if (age <= maxAgeSeconds || heads.isWitnessed(position, blockOf(answer), now)) return undefined
    heads.fellBehind(position, now)
    return age
  })

  const ask = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const askedAt = yield* Clock.monotonicTimeNanos
    const answer = yield* askOne(endpoint, method, send)
    if (shown === undefined) return answer
    const block = shown.blockOf(answer)
    const { notBefore } = shown
    const { position } = endpoint
    const wasBehind = (heads.heads(askedAt)[position]?.blocksBehind ?? 0n) > 0n
    const judged = { position, block, askedAt, notBefore, time: shown.timeOf?.(answer) }
    const { least, minForAll } = heads.judge(judged, yield* Clock.monotonicTimeNanos)
    const age = yield* agedBy(position, answer, shown)
    yield* report(target, position, wasBehind)
    if ((block >= least && age === undefined) || !refusesOld) return answer
    const reason = age === undefined || block < least ? oldReason(block, least) : agedReason(block, age)
    const old = { reason, isOldForAll: block < minForAll || age !== undefined }
    if (newest === undefined || newest.block < block) newest = { endpoint, answer, block, old }
    return yield* Effect.fail<Failure>({ reason, isAnswer: true, isBehind: true })
  })

  let round = ordered(target, yield* Clock.monotonicTimeNanos)
  for (let times = 1; times <= 2 && round.length > 0; times++) {
    const old: Array<Endpoint> = []
    for (const endpoint of round) {
      const exit = yield* Effect.exit(ask(endpoint))
      if (Exit.isSuccess(exit)) return exit.value
      const failure = Exit.findErrorOption(exit)
      if (failure._tag === "None") return yield* Effect.failCause(exit.cause)
      failures.push(failure.value)
      if (failure.value.isBehind) old.push(endpoint)
    }
    round = old
  }
  if (newest !== undefined && shown?.takesOld === true)
    return shown.markOld === undefined ? newest.answer : shown.markOld(newest.answer, newest.old)
  return yield* Effect.fail(failures.find(({ isAnswer }) => isAnswer) ?? failures[0]!)
})
