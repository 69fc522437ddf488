/**
 * The Uniswap v2 pools of a chain: USDC with every other token, and WETH with every token but USDC.
 */
import { type Address, encodePacked, getCreate2Address, keccak256 } from "viem"
import * as Decimal from "#domain/values/Decimal.ts"
import type { CatalogChain, Token } from "#sandbox/assets/catalog.ts"

/** Keccak-256 of the pair contract's creation code, the constant that the router of @uniswap/v2-periphery contains. */
const pairCodeHash = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"

/** Two tokens that have a pool; `quote` is USDC or WETH. */
export interface Pool {
  readonly token: Token
  readonly quote: Token
}

/** All pools of a chain. Any token reaches any other in at most two hops, over USDC or WETH. */
export const poolsOf = (chain: CatalogChain): ReadonlyArray<Pool> => [
  ...chain.tokens.filter((token) => token !== chain.usdc).map((token) => ({ token, quote: chain.usdc })),
  ...chain.tokens
    .filter((token) => token !== chain.usdc && token !== chain.weth)
    .map((token) => ({ token, quote: chain.weth }))
]

const sorted = (a: Token, b: Token): readonly [Token, Token] =>
  a.address.toLowerCase() < b.address.toLowerCase() ? [a, b] : [b, a]

/** The address at which the factory creates the pool of two tokens. */
export const pairAddress = (factory: Address, pool: Pool): Address => {
  const [token0, token1] = sorted(pool.token, pool.quote)
  return getCreate2Address({
    from: factory,
    salt: keccak256(encodePacked(["address", "address"], [token0.address, token1.address])),
    bytecodeHash: pairCodeHash
  })
}

/** What each side of a new pool is worth, in US dollars: a trade of 100,000 moves the price by about one percent. */
const sideUsd = 20_000_000n * Decimal.one

/** Raw units of a token that are worth one side of a new pool at a price (wad). */
export const sideAmount = (token: Token, priceUsd: bigint): bigint =>
  (sideUsd * 10n ** BigInt(token.decimals)) / priceUsd

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))

/** Products with reserves of 112 bits must stay inside 256 bits. */
const weightLimit = 1n << 140n

/**
 * The ratio in which a pool holds its tokens when one whole `token` costs `tokenPrice` and one whole `quote`
 * `quotePrice` (wad): raw units of token0 to token1, in the pair's own order.
 */
export const reserveWeights = (pool: Pool, tokenPrice: bigint, quotePrice: bigint): readonly [bigint, bigint] => {
  const price = (token: Token) => (token === pool.token ? tokenPrice : quotePrice)
  const [token0, token1] = sorted(pool.token, pool.quote)
  let weight0 = price(token1) * 10n ** BigInt(token0.decimals)
  let weight1 = price(token0) * 10n ** BigInt(token1.decimals)
  const divisor = gcd(weight0, weight1)
  weight0 /= divisor
  weight1 /= divisor
  while (weight0 > weightLimit || weight1 > weightLimit) {
    weight0 >>= 1n
    weight1 >>= 1n
  }
  return [weight0, weight1]
}
