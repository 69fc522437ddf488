/** A chain that takes no transaction for a while, and the fees that it asks meanwhile. */
import { Effect } from "effect"
import type { Hex } from "viem"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { mine } from "#test/layers/evm/EvmWorld.ts"

/** Holds every transaction back while the effect runs. */
export const withoutMining = <A, E, R>(chain: Chain, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.promise(() => chain.client.setAutomine(false)),
    () => effect,
    () => Effect.promise(() => chain.client.setAutomine(true))
  )

/** The next blocks have such a base fee, and one of them is made. */
const mineAt = Effect.fnUntraced(function* (chain: Chain, baseFeePerGas: bigint) {
  yield* Effect.promise(() => chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas }))
  yield* mine(chain)
})

const baseFeeOf = (chain: Chain) =>
  Effect.promise(async () => (await chain.client.getBlock({ blockTag: "latest" })).baseFeePerGas!)

/** Fees rise while the effect runs, so that what was offered before would not be taken, and fall to what they were. */
export const withFeesAbove = <A, E, R>(chain: Chain, offered: bigint, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.tap(baseFeeOf(chain), () => mineAt(chain, 2n * offered)),
    () => effect,
    (before) => mineAt(chain, before)
  )

export const feesOf = (chain: Chain, hash: string) =>
  Effect.promise(async () => {
    const { maxFeePerGas, maxPriorityFeePerGas, nonce } = await chain.client.getTransaction({ hash: hash as Hex })
    return { maxFeePerGas: maxFeePerGas!, maxPriorityFeePerGas: maxPriorityFeePerGas!, nonce }
  })
