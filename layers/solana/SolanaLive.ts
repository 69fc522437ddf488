/**
 * The Solana chain behind the ports of the domain. A port that chains of several families keep has one implementation
 * for each, and a layer here that calls the one of the chain's family: it wraps the port as it was, implements Solana
 * itself, and hands on whatever is of another family. So layers are stacked, `SolanaLive` on `EvmLive`
 * (docs/decisions/0229-solana-in-the-service.md).
 *
 * Without a Solana chain in the configuration the ports answer as they do without this layer.
 */
import { Effect, Layer } from "effect"
import { SolanaWalletsLive } from "#layers/solana/enrollment/SolanaWalletsLive.ts"
import { SolanaBalances } from "#layers/solana/SolanaBalances.ts"
import { SolanaChainsLive } from "#layers/solana/SolanaChainsLive.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaExecutionLive } from "#layers/solana/execution/SolanaExecutionLive.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaCosts } from "#layers/solana/SolanaCosts.ts"
import { SolanaFunds } from "#layers/solana/SolanaFunds.ts"
import { SolanaTags } from "#layers/solana/SolanaTags.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaTokens } from "#layers/solana/SolanaTokens.ts"
import { SolanaUnlisted } from "#layers/solana/SolanaUnlisted.ts"
import { SolanaWithdrawalsLive } from "#layers/solana/execution/SolanaWithdrawalsLive.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"

const rpc = Layer.unwrap(Effect.map(SolanaConfig, (deployment) => SolanaRpc.layer(deployment?.rpcUrls ?? [])))

/** A deployment without the chain does not call Jupiter. */
const jupiter = Layer.unwrap(
  Effect.map(SolanaConfig, (deployment) =>
    JupiterClient.layer(deployment?.jupiter ?? { baseUrl: "", apiKey: null, requestsPerSecond: 1 })
  )
)

/** SolanaRpc, SolanaAgent and JupiterClient of the configuration: what ports are kept with. */
export const SolanaClients = Layer.mergeAll(rpc, jupiter, SolanaAgent.layer)

/**
 * Balances, Chains, ChainCosts, ChainStates, OperationTags, RelayerFunds, TokenReader, Venue, SwapBatches,
 * WithdrawalTransactions and WithdrawalVerifier of all families, over those of the others; and SolanaWallets, PartRelay
 * and UnlistedHoldings.
 */
export const SolanaLive = Layer.mergeAll(
  SolanaBalances,
  SolanaChainsLive,
  SolanaCosts,
  SolanaExecutionLive,
  SolanaFunds,
  SolanaTags,
  SolanaTokens,
  SolanaUnlisted,
  SolanaWalletsLive,
  SolanaWithdrawalsLive
).pipe(Layer.provide(UnrecordedTransactions.layer))
