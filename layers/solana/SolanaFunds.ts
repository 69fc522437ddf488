/** What pays for transactions, on chains of all families: on Solana the agent, which pays the rent of accounts too. */
import { Effect, Layer, Option } from "effect"
import { SolanaAddress, solanaChainId } from "#domain/values/Caip.ts"
import { RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

const chainId = solanaChainId

/** The fees and rents of some ten portfolios. */
export const lowLamports = 100_000_000n

/** A lamport in 18 decimals. */
export const weiOfLamport = 1_000_000_000n

const read = Effect.fn("solana.readFunds")(function* () {
  const { agent } = yield* (yield* SolanaAgent).signing
  const { values } = yield* (yield* SolanaRpc).accounts([agent.key])
  const lamports = Option.match(values[0]!, { onNone: () => 0n, onSome: (account) => account.lamports })
  const relayer = SolanaAddress.make(agent.key.toBase58())
  return [{ chainId, relayer, balance: lamports * weiOfLamport, isLow: lamports < lowLamports }]
})

export const SolanaFunds = Layer.effect(
  RelayerFunds,
  Effect.gen(function* () {
    const others = yield* RelayerFunds
    if ((yield* SolanaConfig) === null) return others
    const context = yield* Effect.context<SolanaAgent | SolanaRpc>()
    return RelayerFunds.of({
      chains: [...others.chains, chainId],
      read: (id) => (id === chainId ? Effect.provideContext(read(), context) : others.read(id))
    })
  })
)
