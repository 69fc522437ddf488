/** The chains of all families, and how they are doing: Solana comes last, where the deployment has it. */
import { Duration, Effect, Layer } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { type ChainState, ChainStates } from "#domain/chain/ChainStates.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

const chainId = solanaChainId

/** A block counts once two thirds of the validators voted for it (`confirmed`), whatever is built upon it. */
const confirmations = 1

const freshFor = Duration.seconds(10)
/** A chain that takes longer than this is of no use to a run either. */
const timeout = Duration.seconds(3)

const chains = Layer.effect(
  Chains,
  Effect.gen(function* () {
    const { supported } = yield* Chains
    const deployment = yield* SolanaConfig
    return Chains.of({ supported: deployment === null ? supported : [...supported, chainId] })
  })
)

const states = Layer.effect(
  ChainStates,
  Effect.gen(function* () {
    const others = yield* ChainStates
    const deployment = yield* SolanaConfig
    if (deployment === null) return others
    const rpc = yield* SolanaRpc
    const own = yield* rpc.position("confirmed").pipe(
      Effect.timeout(timeout),
      Effect.match({
        onSuccess: (): ChainState => ({ chainId, confirmations, isAvailable: true }),
        onFailure: (): ChainState => ({ chainId, confirmations, isAvailable: false })
      }),
      Effect.cachedWithTTL(freshFor)
    )
    const all = Effect.all([others.all, own], { concurrency: "unbounded" })
    return ChainStates.of({ all: Effect.map(all, ([before, one]) => [...before, one]) })
  })
)

/** Chains and ChainStates, over those of the others. */
export const SolanaChainsLive = Layer.merge(chains, states)
