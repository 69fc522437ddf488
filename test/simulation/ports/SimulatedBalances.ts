/** Balances as a node of a simulated chain shows them, which may lag. */
import { DateTime, Effect, Layer } from "effect"
import { chainIdOf } from "#domain/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { onChain, shownHead } from "#test/simulation/ports/link.ts"
import type { World } from "#test/simulation/world/World.ts"

export const simulatedBalances = (world: World) =>
  Layer.succeed(
    Balances,
    Balances.of({
      read: (account, assetIds) =>
        Effect.flatMap(DateTime.now, (blockTime) =>
          onChain(world, chainIdOf(account), (chain) => {
            const block = shownHead(world, chain)
            const balances = assetIds.map((assetId) => ({ assetId, raw: chain.balanceAt(account, assetId, block) }))
            return { blockNumber: BigInt(block), blockTime, balances }
          })
        )
    })
  )
