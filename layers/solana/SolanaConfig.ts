/** The configuration of the Solana chain. A deployment without it serves EVM chains alone. */
import { Context, type Redacted } from "effect"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import type { JupiterSettings } from "#layers/solana/trading/JupiterClient.ts"

export interface SolanaDeployment {
  /** JSON-RPC endpoints of the main network, in the order in which they are tried. */
  readonly rpcUrls: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
  /** The first 32 bytes of the agent's key: it acts for sub-accounts, and pays the fees. */
  readonly agentSeed: Redacted.Redacted<Uint8Array>
  readonly fees: FeePolicy
  readonly jupiter: JupiterSettings
}

export class SolanaConfig extends Context.Service<SolanaConfig, SolanaDeployment | null>()(
  "ballast/layers/solana/SolanaConfig"
) {}
