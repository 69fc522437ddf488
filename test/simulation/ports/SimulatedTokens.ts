/**
 * What tokens of a simulated chain say of themselves: what lists say. No two of them are one, and a node that is behind
 * has none of what it is asked about.
 */
import { Layer } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { onChain, shownHead } from "#test/simulation/ports/link.ts"
import type { World } from "#test/simulation/world/World.ts"

export const simulatedTokens = (world: World) =>
  Layer.succeed(
    TokenReader,
    TokenReader.of({
      decimals: (chainId, assetIds) =>
        onChain(world, chainId, (chain) => {
          const isBehind = shownHead(world, chain) < chain.head()
          const hasNone = isBehind && world.random.chance(world.faults.stale)
          return new Map(
            assetIds.map(
              (assetId) => [assetId, hasNone ? null : (world.assets.get(assetId)?.decimals ?? null)] as const
            )
          )
        }),
      areOne: (account) =>
        onChain(world, chainIdOf(account), () => (world.random.chance(world.faults.stale) ? null : false))
    })
  )
