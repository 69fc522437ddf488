/**
 * Blocks that come with time, beside those that anvil makes when a transaction arrives: what did not fit into a block
 * goes into the next one, and confirmations grow without further traffic.
 *
 * Anvil's own interval keeps 1,500 states whatever its options say, and each block costs it time and memory for
 * good. So the blocks are made from here, at the chain's block time while it is in use and seldom while it is not.
 */
import { Duration, Effect, type Scope } from "effect"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** How long after a transaction a chain is in use: longer than the confirmations take that anybody asks for. */
const inUseMillis = 60_000
/** Pause between the blocks of a chain that nobody uses. */
const idleMillis = 15_000

interface Seen {
  /** The block of the last poll, and when one with transactions, and any one, was seen first. */
  readonly block: bigint
  readonly usedAt: number
  readonly minedAt: number
}

/** Mines when a block is due; `seen` is what the last call answered. */
const mineWhenDue = async (client: ChainClient, seen: Seen): Promise<Seen> => {
  const [block, { pending }] = await Promise.all([client.getBlock({ blockTag: "latest" }), client.getTxpoolStatus()])
  const now = performance.now()
  const isUsed = pending > 0 || (block.number !== seen.block && block.transactions.length > 0)
  const usedAt = isUsed ? now : seen.usedAt
  const minedAt = block.number === seen.block ? seen.minedAt : now
  if (now - usedAt >= inUseMillis && now - minedAt < idleMillis) return { block: block.number, usedAt, minedAt }
  await client.mine({ blocks: 1 })
  return { block: block.number + 1n, usedAt, minedAt: performance.now() }
}

/**
 * Mines until the scope ends. A request that fails is followed by the next: whoever runs the chain sees its process
 * end.
 */
export const mineByInterval = Effect.fnUntraced(function* (
  client: ChainClient,
  blockTimeMillis: number
): Effect.fn.Return<void, never, Scope.Scope> {
  const now = performance.now()
  let seen: Seen = { block: -1n, usedAt: now, minedAt: now }
  yield* Effect.tryPromise({
    try: () => mineWhenDue(client, seen),
    catch: (cause) => new SandboxFailure({ message: `Chain ${client.chain.id} made no block`, cause })
  }).pipe(
    Effect.tap((next) => Effect.sync(() => (seen = next))),
    Effect.catch(({ message }) => Effect.logDebug(message)),
    Effect.andThen(Effect.sleep(Duration.millis(blockTimeMillis))),
    Effect.forever,
    Effect.forkScoped
  )
})
