import { Clock, Effect } from "effect"
import { encodeFunctionData } from "viem"
import type { Token } from "#sandbox/assets/catalog.ts"
import { type Chain, setChainTime } from "#sandbox/chain/Chain.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { pairAddress, type Pool, poolsOf, reserveWeights } from "#sandbox/chain/Pools.ts"
import { setFeed } from "#sandbox/chain/priceFeeds.ts"
import { setRoutePools } from "#sandbox/chain/routePools.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

const movePool = (chain: Chain, pool: Pool, priceOf: (token: Token) => bigint) =>
  operate(chain.client, {
    what: `move the pool ${pool.token.symbol}/${pool.quote.symbol}`,
    to: chain.contracts.treasury,
    data: encodeFunctionData({
      abi: chain.treasuryAbi,
      functionName: "movePrice",
      args: [
        pairAddress(chain.contracts.factory, pool),
        ...reserveWeights(pool, priceOf(pool.token), priceOf(pool.quote))
      ]
    }),
    gas: 2_000_000n
  })

/**
 * Gives a token a new price (US dollars, wad) on its chain: every pool that holds it is traded to the new ratio, which
 * takes back what swaps did to it before, and the chain's feed and the price book (the API's source) follow. `at` is
 * the world's time in milliseconds, the clock's by default.
 */
export const setPrice = Effect.fn("Market.setPrice")(function* (
  chain: Chain,
  token: Token,
  { at, priceUsd }: { readonly priceUsd: bigint; readonly at?: number | undefined }
) {
  if (priceUsd <= 0n) {
    return yield* new SandboxFailure({ message: `The price of ${token.symbol} must be above zero` })
  }
  const priceOf = (side: Token) => (side === token ? priceUsd : chain.prices.price(side.assetId))
  for (const pool of poolsOf(chain.catalog)) {
    if (pool.token === token || pool.quote === token) yield* movePool(chain, pool, priceOf)
  }
  yield* setRoutePools(chain, [token], priceOf)
  yield* setFeed(chain.client, token, priceUsd)
  chain.prices.set(token.assetId, priceUsd, at ?? (yield* Clock.currentTimeMillis))
})

/** Moves the chain's time forward by milliseconds, rounded up to whole seconds, and mines a block there. */
export const advance = (chain: Chain, millis: number): Effect.Effect<void, SandboxFailure> =>
  Effect.tryPromise({
    try: async () => {
      await chain.client.increaseTime({ seconds: Math.ceil(millis / 1000) })
      await chain.client.mine({ blocks: 1 })
    },
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} refused to move its time`, cause })
  })

/** Moves the chain's time to the world's time, in milliseconds; it never goes back. */
export const advanceTo = (chain: Chain, millis: number): Effect.Effect<void, SandboxFailure> =>
  setChainTime(chain.client, millis)
