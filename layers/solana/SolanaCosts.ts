/**
 * What operations cost, on chains of all families: on Solana each swap is a transaction of its own, and there is
 * nothing around them. What prices of units recent blocks took is read at most once a minute.
 */
import { Duration, Effect, Layer, Option } from "effect"
import { solanaChainId } from "#domain/Caip.ts"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import { signatureLamports } from "#layers/solana/execution/prepareSwaps.ts"
import { priorityLamports, unitPriceFor, unitsOfATransaction } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { weiOfLamport } from "#layers/solana/SolanaFunds.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

const keptFor = Duration.minutes(1)

/**
 * The agent's signature, and a place in a block for as many units as a transaction may have: how many a swap takes is
 * seen when it is simulated. The rent of accounts that a batch opens is counted there too, since it depends on what the
 * account has held.
 */
const expected = Effect.gen(function* () {
  const { fees } = yield* (yield* SolanaAgent).signing
  const prices = yield* (yield* SolanaRpc).recentFees([])
  const price = unitPriceFor(prices, unitsOfATransaction, fees)
  const priority = priorityLamports(BigInt(unitsOfATransaction), price)
  return { operation: 0n, swap: (signatureLamports + priority) * weiOfLamport }
})

export const SolanaCosts = Layer.effect(
  ChainCosts,
  Effect.gen(function* () {
    const others = yield* ChainCosts
    if ((yield* SolanaConfig) === null) return others
    const context = yield* Effect.context<SolanaAgent | SolanaRpc>()
    const [read, forget] = yield* Effect.cachedInvalidateWithTTL(Effect.provideContext(expected, context), keptFor)
    const own = read.pipe(
      Effect.map(Option.some),
      Effect.catchTag("ChainUnavailable", () => Effect.as(forget, Option.none()))
    )
    return { read: (id) => (id === solanaChainId ? own : others.read(id)) }
  })
)
