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
import { createPublicClient, type PublicClient } from "viem"
import type { ChainId } from "#domain/Caip.ts"
import * as Metrics from "#domain/Metrics.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"
import { aggregate, type Call, type CallResult } from "#layers/evm/rpc/aggregate.ts"
import { gatheredCalls } from "#layers/evm/rpc/gatheredCalls.ts"
import { describeRpcFailure, rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"
import { verifiedTransport } from "#layers/evm/rpc/verifiedTransport.ts"

/** How long an endpoint that gave no answer is tried after the others. */
const penalty = Duration.seconds(10)

interface Endpoint {
  readonly client: PublicClient
  /** Monotonic nanoseconds until which it is tried last. */
  avoidUntil: bigint
}

type Endpoints = Pick<EvmChain, "chainId" | "rpcUrls">

/** `ccipRead` would let a contract's answer make the service fetch any URL. */
const connect = ({ chainId, rpcUrls }: Endpoints): ReadonlyArray<Endpoint> =>
  rpcUrls.map((url) => ({
    client: createPublicClient({
      transport: verifiedTransport(url, chainId, rpcUrls.length === 1 ? 1 : 0),
      ccipRead: false
    }),
    avoidUntil: 0n
  }))

type Send<A> = (client: PublicClient) => Promise<A>

/** The node itself answered with an error; the endpoint works. */
interface Failure {
  readonly reason: string
  readonly isAnswer: boolean
}

const ask = <A>(endpoint: Endpoint, method: string, send: Send<A>) =>
  Effect.tryPromise({
    try: () => send(endpoint.client),
    catch: (error): Failure => ({
      reason: describeRpcFailure(method, error),
      isAnswer: rpcErrorOf(error) !== undefined
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

/** The first success; or, of the failures, the error of a node rather than the timeout of another. */
const withFallback = Effect.fnUntraced(function* <A>(
  endpoints: ReadonlyArray<Endpoint>,
  method: string,
  send: Send<A>
) {
  const now = yield* Clock.monotonicTimeNanos
  const failures: Array<Failure> = []
  const [willing, avoided] = [
    endpoints.filter((one) => one.avoidUntil <= now),
    endpoints.filter((one) => one.avoidUntil > now)
  ]
  for (const endpoint of [...willing, ...avoided]) {
    const exit = yield* Effect.exit(ask(endpoint, method, send))
    if (Exit.isSuccess(exit)) return exit.value
    const failure = Exit.findErrorOption(exit)
    if (failure._tag === "None") return yield* Effect.failCause(exit.cause)
    failures.push(failure.value)
  }
  return yield* Effect.fail(failures.find(({ isAnswer }) => isAnswer) ?? failures[0]!)
})

interface Clients {
  /** Runs `send` with a client of the chain. `method` is the JSON-RPC method that it calls, for traces and messages. */
  readonly request: <A>(chainId: ChainId, method: string, send: Send<A>) => Effect.Effect<A, ChainUnavailable>
  /** Results of reading calls, at one block, in a request that others may share. */
  readonly gather: (
    chainId: ChainId,
    calls: ReadonlyArray<Call>,
    blockNumber: bigint | undefined
  ) => Effect.Effect<ReadonlyArray<CallResult>, ChainUnavailable>
  /** What the deployment decided about the chain. */
  readonly chain: (chainId: ChainId) => Effect.Effect<EvmChain, ChainUnavailable>
  /** The same service over each endpoint of the chain alone; the same values whenever it is asked. */
  readonly each: (chainId: ChainId) => ReadonlyArray<Clients>
}

export class EvmClients extends Context.Service<EvmClients, Clients>()("ballast/layers/evm/EvmClients") {
  static readonly layer = Layer.effect(
    EvmClients,
    Effect.flatMap(EvmConfig, ({ chains }) => clientsOf(chains, chains))
  )

  /** Of a process that only reads chains: nothing but their endpoints is configured. */
  static readonly reading = (chains: ReadonlyArray<Endpoints>) => Layer.effect(EvmClients, clientsOf(chains, []))
}

const clientsOf = Effect.fnUntraced(function* (
  endpoints: ReadonlyArray<Endpoints>,
  settings: ReadonlyArray<EvmChain>
): Effect.fn.Return<Clients, never, Scope.Scope> {
  const known = new Map(endpoints.map((chain) => [chain.chainId, connect(chain)]))
  const configured = new Map(settings.map((chain) => [chain.chainId, chain]))
  const endpointsOf = (chainId: ChainId) => known.get(chainId) ?? []
  const gathered = new Map(
    yield* Effect.forEach(known.keys(), (chainId) =>
      Effect.map(
        gatheredCalls((method, send) => request({ chainId, endpoints: endpointsOf(chainId) }, method, send)),
        (gather) => [chainId, gather] as const
      )
    )
  )

  const chain: Clients["chain"] = (chainId) => {
    const found = configured.get(chainId)
    return found === undefined ? notConfigured(chainId) : Effect.succeed(found)
  }

  /** Over one endpoint alone: nothing is shared. */
  const over = (endpoint: Endpoint): Clients => {
    const clients: Clients = {
      request: (chainId, method, send) => request({ chainId, endpoints: [endpoint] }, method, send),
      gather: (chainId, calls, blockNumber) =>
        request({ chainId, endpoints: [endpoint] }, "eth_call", (client) => aggregate(client, calls, { blockNumber })),
      chain,
      each: () => [clients]
    }
    return clients
  }

  const alone = new Map([...known].map(([chainId, each]) => [chainId, each.map(over)]))

  return {
    request: (chainId, method, send) => request({ chainId, endpoints: endpointsOf(chainId) }, method, send),
    gather: (chainId, calls, blockNumber) => gathered.get(chainId)?.(calls, blockNumber) ?? notConfigured(chainId),
    chain,
    each: (chainId) => alone.get(chainId) ?? []
  }
})

const notConfigured = (chainId: ChainId) =>
  Effect.fail(new ChainUnavailable({ chainId, reason: "no RPC endpoint is configured for this chain" }))

/** The endpoints of a chain that are called. */
interface RequestTarget {
  readonly chainId: ChainId
  readonly endpoints: ReadonlyArray<Endpoint>
}

const request = <A>({ chainId, endpoints }: RequestTarget, method: string, send: Send<A>) =>
  Effect.gen(function* () {
    if (endpoints.length === 0) return yield* notConfigured(chainId)
    const start = yield* Clock.monotonicTimeNanos
    return yield* withFallback(endpoints, method, send).pipe(
      Effect.mapError(({ reason }) => new ChainUnavailable({ chainId, reason })),
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
  }).pipe(Effect.withSpan(`evm.${method}`, { kind: "client", attributes: { "chain.id": chainId } }))
