/**
 * JSON-RPC clients of the chains. Every request is bounded in time, traced as `evm.<method>` and measured; whatever
 * goes wrong on the way to an answer is `ChainUnavailable`.
 *
 * A chain may have several endpoints. A request goes to the first that answers: one that times out, serves another
 * chain or answers what is no answer is passed over, and tried last for a while. What decides about money is read from
 * all of them (layers/evm/rpc/quorum.ts), transactions are sent to all of them, and nonces need two
 * (execution/relayerNonce.ts).
 */
import { Clock, Context, Duration, Effect, Exit, Layer, Metric, type Scope } from "effect"
import { createPublicClient } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"
import { aggregate, type Call, latestReading, type Reading } from "#layers/evm/rpc/aggregate.ts"
import { ChainHeads, type EndpointHead } from "#layers/provider/chainHeads.ts"
import { type Asked, askInTurn, compareEndpoints, type Endpoint, type Endpoints } from "#layers/evm/rpc/Endpoint.ts"
import { type BatchFrame, batchedCalls } from "#layers/evm/rpc/batchedCalls.ts"
import { sharedReading } from "#layers/evm/rpc/sharedReading.ts"
import { verifiedTransport } from "#layers/evm/rpc/verifiedTransport.ts"

export type { Freshness } from "#layers/evm/rpc/Endpoint.ts"

type Configured = Pick<EvmChain, "chainId" | "rpcUrls" | "headMaxAgeSeconds">

/** `ccipRead` would let a contract's answer make the service fetch any URL. */
/** How long endpoints count as compared. */
const comparedFor = Duration.seconds(10)

interface ComparedEndpoints extends Endpoints {
  /** Once it is done it is known which of them are behind. */
  readonly compared: Effect.Effect<void>
}

/** Several endpoints are compared before something is read that must be new, every ten seconds at most. */
const compared = Effect.fnUntraced(function* (target: Endpoints) {
  if (target.endpoints.length === 1) return { ...target, compared: Effect.void } satisfies ComparedEndpoints
  const compare = compareEndpoints(target)
  const { read } = yield* sharedReading(comparedFor, Number, () => compare)
  return { ...target, compared: read(0) } satisfies ComparedEndpoints
})

const connect = ({ chainId, headMaxAgeSeconds, rpcUrls }: Configured): Endpoints => ({
  chainId,
  endpoints: rpcUrls.map((url, position): Endpoint => ({
    client: createPublicClient({
      transport: verifiedTransport(url, chainId, rpcUrls.length === 1 ? 1 : 0),
      ccipRead: false
    }),
    position,
    avoidUntil: 0n
  })),
  heads: new ChainHeads(rpcUrls.length),
  maxAgeSeconds: headMaxAgeSeconds === undefined ? undefined : BigInt(headMaxAgeSeconds),
  refusesOld: true
})

interface Clients {
  /**
   * Runs `send` with a client of the chain. `method` is the JSON-RPC method that it calls, for traces and messages.
   * With `shown`, an answer as of an old block is none.
   */
  readonly request: <A>(chainId: ChainId, ...asked: Asked<A>) => Effect.Effect<A, ChainUnavailable>
  /** Results of reading calls, at one block, in a request that others may share. */
  readonly readCalls: (
    chainId: ChainId,
    calls: ReadonlyArray<Call>,
    frame: BatchFrame
  ) => Effect.Effect<Reading, ChainUnavailable>
  /** What the deployment decided about the chain. */
  readonly chain: (chainId: ChainId) => Effect.Effect<EvmChain, ChainUnavailable>
  /** Clients over each endpoint of the chain alone; one list, whenever it is asked. */
  readonly each: (chainId: ChainId) => ReadonlyArray<Clients>
  /** How far each endpoint of the chain was seen to be, in their order. */
  readonly heads: (chainId: ChainId) => Effect.Effect<ReadonlyArray<EndpointHead>>
  /** The first block that an answer may stand on that is requested now; 0 while nothing was seen of the chain. */
  readonly due: (chainId: ChainId) => Effect.Effect<bigint>
}

export class EvmClients extends Context.Service<EvmClients, Clients>()("ballast/layers/evm/EvmClients") {
  static readonly layer = Layer.effect(
    EvmClients,
    Effect.flatMap(EvmConfig, ({ chains }) => clientsOf(chains, chains))
  )

  /** Layer of a process that only reads chains: nothing but their endpoints is configured. */
  static readonly reading = (chains: ReadonlyArray<Configured>) => Layer.effect(EvmClients, clientsOf(chains, []))
}

/** Calls of one block; of the latest, one that is new enough. */
const askCalls =
  (target: ComparedEndpoints) =>
  (calls: ReadonlyArray<Call>, { blockNumber, notBefore, takesOld }: BatchFrame) =>
    request(
      target,
      "eth_call",
      (client) => aggregate(client, calls, { chainId: target.chainId, blockNumber }),
      blockNumber === undefined ? { ...latestReading, notBefore, takesOld } : undefined
    )

const clientsOf = Effect.fnUntraced(function* (
  endpoints: ReadonlyArray<Configured>,
  settings: ReadonlyArray<EvmChain>
): Effect.fn.Return<Clients, never, Scope.Scope> {
  const known = new Map(
    yield* Effect.forEach(endpoints, (chain) =>
      Effect.map(compared(connect(chain)), (target) => [chain.chainId, target] as const)
    )
  )
  const configured = new Map(settings.map((chain) => [chain.chainId, chain]))
  const batches = new Map(
    yield* Effect.forEach(known, ([chainId, target]) =>
      Effect.map(batchedCalls(askCalls(target)), (readCalls) => [chainId, readCalls] as const)
    )
  )

  const chain: Clients["chain"] = (chainId) => {
    const found = configured.get(chainId)
    return found === undefined ? notConfigured(chainId) : Effect.succeed(found)
  }

  const requestOf = <A>(chainId: ChainId, ...asked: Asked<A>) => {
    const target = known.get(chainId)
    return target === undefined ? notConfigured(chainId) : request(target, ...asked)
  }

  const heads = (chainId: ChainId) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => known.get(chainId)?.heads.heads(now) ?? [])
  const due = (chainId: ChainId) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => known.get(chainId)?.heads.due(now) ?? 0n)

  /** Builds clients over one endpoint alone: nothing is shared, and what it sees is what it says. */
  const over = (endpoint: Endpoint, target: ComparedEndpoints): Clients => {
    const alone: ComparedEndpoints = { ...target, endpoints: [endpoint], maxAgeSeconds: undefined, refusesOld: false }
    const clients: Clients = {
      request: (_, ...asked) => request(alone, ...asked),
      readCalls: (_, calls, frame) => askCalls(alone)(calls, frame),
      chain,
      each: () => [clients],
      heads,
      due
    }
    return clients
  }

  const alone = new Map(
    [...known].map(([chainId, target]) => [chainId, target.endpoints.map((endpoint) => over(endpoint, target))])
  )

  return {
    request: requestOf,
    readCalls: (chainId, calls, frame) => batches.get(chainId)?.(calls, frame) ?? notConfigured(chainId),
    chain,
    each: (chainId) => alone.get(chainId) ?? [],
    heads,
    due
  }
})

const notConfigured = (chainId: ChainId) =>
  Effect.fail(new ChainUnavailable({ chainId, reason: "no RPC endpoint is configured for this chain" }))

const request = <A>(target: ComparedEndpoints, ...[method, send, shown]: Asked<A>) =>
  Effect.gen(function* () {
    const { chainId } = target
    const start = yield* Clock.monotonicTimeNanos
    if (shown !== undefined && target.refusesOld) yield* target.compared
    return yield* askInTurn(target, method, send, shown).pipe(
      Effect.mapError(
        ({ isBehind, reason }) => new ChainUnavailable({ chainId, reason, ...(isBehind ? { isBehind } : {}) })
      ),
      Effect.onExit((exit) =>
        Effect.flatMap(Clock.monotonicTimeNanos, (end) =>
          Metric.update(
            Metric.withAttributes(Metrics.chainRequestDuration, {
              "rpc.system.name": "jsonrpc",
              "rpc.method": method,
              "ballast.chain.id": String(chainId),
              ...(Exit.isSuccess(exit) ? {} : { "error.type": "ChainUnavailable" })
            }),
            Number(end - start) / 1e9
          )
        )
      )
    )
  }).pipe(Effect.withSpan(`evm.${method}`, { kind: "client", attributes: { "chain.id": target.chainId } }))
