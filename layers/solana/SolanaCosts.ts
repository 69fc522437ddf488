/**
 * What operations cost, on chains of all families: on Solana each swap is a transaction of its own, and there is
 * nothing around them. What prices of units recent blocks took is read at most once a minute.
 */
import { Duration, Effect, Layer, Option } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import { expectedFee } from "#layers/solana/execution/prepareSwaps.ts"
import type { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { weiOfLamport } from "#layers/solana/SolanaFunds.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

const keptFor = Duration.minutes(1)

/** The rent of accounts that a batch opens is counted there, since it depends on what the account has held. */
const expected = Effect.map(expectedFee, (fee) => ({ operation: 0n, swap: fee * weiOfLamport }))

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
