/** Tags by which a simulated chain shows which operation of the service it has carried out. */
import { Effect, Layer } from "effect"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type TaggedOperation, OperationTags, type SoughtOperation } from "#domain/relay/OperationTags.ts"
import { onChain, searched } from "#test/simulation/ports/link.ts"
import { receiptOf } from "#test/simulation/ports/receipts.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import type { World } from "#test/simulation/world/World.ts"

/** The operation with the tag that took effect, as of a block. */
const inclusionOf = (chain: Chain, { accountId, operationId }: SoughtOperation, head: number) => {
  const isSought = (part: { readonly accountId: string; readonly operationId: string | null }) =>
    part.accountId === accountId && part.operationId === operationId
  for (const inclusion of chain.inclusions) {
    const part = inclusion.execution.parts.find((one) => one.success && isSought(one))
    if (part !== undefined && inclusion.block <= head) return { inclusion, part }
  }
  return undefined
}

export const simulatedTags = (world: World) =>
  Layer.succeed(
    OperationTags,
    OperationTags.of({
      find: (sought) =>
        Effect.flatMap(
          onChain(world, sought.chainId, (chain): TaggedOperation | ChainUnavailable => {
            const head = searched(world, chain)
            if (typeof head !== "number") return head
            const { accountId, chainId, fromBlock } = sought
            if (BigInt(head) < fromBlock)
              return new ChainUnavailable({ chainId, reason: `the node is at block ${head}` })
            const including = inclusionOf(chain, sought, head)
            if (including === undefined) return { _tag: "Absent" }
            if (including.inclusion.block > head - chain.confirmations + 1) return { _tag: "Pending" }
            return { _tag: "Included", receipt: receiptOf(including, accountId) }
          }),
          (found) => (found._tag === "ChainUnavailable" ? Effect.fail(found) : Effect.succeed(found))
        )
    })
  )
