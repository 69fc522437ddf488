/** What accounts received, as simulated chains show it once it is confirmed. */
import { Effect, Layer, Option, Result } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { onChain, searched, shownHead } from "#test/simulation/ports/link.ts"
import { netOf } from "#test/simulation/ports/receipts.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import type { World } from "#test/simulation/world/World.ts"

export const simulatedReceipts = (world: World) =>
  Layer.succeed(
    TransferReceipts,
    TransferReceipts.of({
      inclusionOf: (accountId, actionHash) =>
        onChain(world, chainIdOf(accountId), (chain) => {
          const including = chain.bridgeAssetOf(actionHash)
          if (including === undefined || including.inclusion.block > shownHead(world, chain) - chain.confirmations + 1)
            return Option.none()
          const { inclusion, part } = including
          return part.success
            ? Option.some({ blockNumber: BigInt(inclusion.block), txHash: inclusion.txHash })
            : Option.none()
        }),
      incoming: (accountId, { after, assetId, least, most }) => {
        const timeOf = (chain: Chain, block: number) => world.harness.now - (chain.head() - block) * chain.blockMs
        const source = world.chain(chainIdOf(after.accountId))
        const found = onChain(world, chainIdOf(accountId), (chain) => {
          const sent = source.find(after.txHash)
          const head = searched(world, chain)
          if (typeof head !== "number") return Result.fail(head)
          const counted = head - chain.confirmations + 1
          const hashes = chain.inclusions
            .filter(({ block }) => sent !== undefined && block <= counted)
            .filter(({ block }) => timeOf(chain, block) >= timeOf(source, sent!.block))
            .filter(({ execution }) =>
              netOf(execution, accountId).some((one) => one.assetId === assetId && one.raw >= least && one.raw <= most)
            )
            .map(({ txHash }) => txHash)
          return Result.succeed(hashes)
        })
        return Effect.flatMap(found, Effect.fromResult)
      },
      read: (accountId, txHash) =>
        Effect.map(
          onChain(world, chainIdOf(accountId), (chain) => {
            const found = chain.find(txHash)
            return found !== undefined && found.block <= shownHead(world, chain) - chain.confirmations + 1
              ? found
              : undefined
          }),
          (found) =>
            found === undefined
              ? Option.none()
              : Option.some({
                  // An operation that reverts inside leaves its transaction a success that moved nothing.
                  success: found.execution.included,
                  isOwn:
                    world.sabotage !== "batches arrive" &&
                    found.execution.parts.some((part) => part.accountId === accountId),
                  blockNumber: BigInt(found.block),
                  deltas: netOf(found.execution, accountId)
                })
        )
    })
  )
