/** Balances as a node of a simulated chain shows them, which may lag. */
import { DateTime, Effect, Layer } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { onChain, shownHead } from "#test/simulation/ports/link.ts"
import { readEach } from "#test/support/readEach.ts"
import type { World } from "#test/simulation/world/World.ts"

export const simulatedBalances = (world: World) => {
  const read: Balances["Service"]["read"] = (account, assetIds, { permissionId } = {}) =>
    Effect.flatMap(DateTime.now, (blockTime) =>
      onChain(world, chainIdOf(account), (chain) => {
        const block = shownHead(world, chain)
        const balances = assetIds.map((assetId) => ({ assetId, raw: chain.balanceAt(account, assetId, block) }))
        const operations = permissionId === undefined ? {} : { operations: BigInt(chain.operationsAt(account, block)) }
        return { blockNumber: BigInt(block), blockTime, balances, ...operations }
      })
    )
  return Layer.succeed(Balances, Balances.of({ read, readMany: readEach(read) }))
}
