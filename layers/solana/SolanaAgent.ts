/** The agent on Solana with what its transactions may cost. */
import { Context, Effect, Layer } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type Agent, localAgent } from "#layers/solana/lifecycle/Agent.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"

export class SolanaAgent extends Context.Service<
  SolanaAgent,
  {
    /** Fails where the deployment has no Solana chain, or no longer. */
    readonly signing: Effect.Effect<{ readonly agent: Agent; readonly fees: FeePolicy }, ChainUnavailable>
  }
>()("ballast/layers/solana/SolanaAgent") {
  static readonly layer = Layer.effect(
    SolanaAgent,
    Effect.map(SolanaConfig, (deployment) =>
      SolanaAgent.of({
        signing:
          deployment === null
            ? Effect.fail(
                new ChainUnavailable({
                  chainId: solanaChainId,
                  reason: "this deployment has no Solana chain; set SOLANA_RPC_URL"
                })
              )
            : Effect.succeed({ agent: localAgent(deployment.agentSeed), fees: deployment.fees })
      })
    )
  )
}
