/**
 * One JSON-RPC client a chain. Every request is bounded in time, traced as `evm.<method>` and measured; whatever goes
 * wrong on the way to an answer is `ChainUnavailable`.
 */
import { Clock, Context, Duration, Effect, Exit, Layer, Metric } from "effect"
import { createPublicClient, fallback, type PublicClient } from "viem"
import type { ChainId } from "#domain/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"
import { describeRpcFailure } from "#layers/evm/rpcFailure.ts"
import { verifiedTransport } from "#layers/evm/verifiedTransport.ts"

const requestDuration = Metric.timer("ballast_chain_request_duration", {
  description: "Time to the answer of a JSON-RPC request, retries included",
  boundaries: [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]
})

/** `ccipRead` would let a contract's answer make the service fetch any URL. */
const connect = ({ chainId, rpcUrls }: EvmChain): PublicClient =>
  createPublicClient({
    transport: fallback(
      rpcUrls.map((url) => verifiedTransport(url, chainId)),
      { retryCount: 0 }
    ),
    ccipRead: false
  })

export class EvmClients extends Context.Service<
  EvmClients,
  {
    /** Runs `send` with the chain's client. `method` is the JSON-RPC method that it calls, for traces and messages. */
    readonly request: <A>(
      chainId: ChainId,
      method: string,
      send: (client: PublicClient) => Promise<A>
    ) => Effect.Effect<A, ChainUnavailable>
  }
>()("ballast/layers/evm/EvmClients") {
  static readonly layer = Layer.effect(
    EvmClients,
    Effect.gen(function* () {
      const { chains } = yield* EvmConfig
      const clients = new Map(chains.map((chain) => [chain.chainId, connect(chain)]))

      const request = <A>(chainId: ChainId, method: string, send: (client: PublicClient) => Promise<A>) =>
        Effect.gen(function* () {
          const client = clients.get(chainId)
          if (client === undefined) {
            return yield* new ChainUnavailable({ chainId, reason: "no RPC endpoint is configured for this chain" })
          }
          const start = yield* Clock.monotonicTimeNanos
          return yield* Effect.tryPromise({
            try: () => send(client),
            catch: (error) => new ChainUnavailable({ chainId, reason: describeRpcFailure(method, error) })
          }).pipe(
            Effect.onExit((exit) =>
              Effect.flatMap(Clock.monotonicTimeNanos, (end) =>
                Metric.update(
                  Metric.withAttributes(requestDuration, {
                    chain: String(chainId),
                    method,
                    outcome: Exit.isSuccess(exit) ? "ok" : "failed"
                  }),
                  Duration.nanos(end - start)
                )
              )
            )
          )
        }).pipe(Effect.withSpan(`evm.${method}`, { kind: "client", attributes: { "chain.id": chainId } }))

      return EvmClients.of({ request })
    })
  )
}
