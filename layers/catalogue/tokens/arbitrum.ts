/**
 * Coins, stablecoins and wrapped forms on Arbitrum One.
 *
 * Source: the Uniswap default token list 22.21.0.
 */
import { coinsOn, onChain } from "#layers/catalogue/represent.ts"

/** Symbol on the chain, symbol of the subject, decimals, address. */
export const arbitrum = coinsOn(onChain(42161), [
  ["WETH", "ETH", 18, "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"],
  ["WBTC", "BTC", 8, "0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f"],
  ["cbBTC", "BTC", 8, "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"],
  ["USDC", "USDC", 6, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"],
  ["DAI", "DAI", 18, "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1"],
  ["ARB", "ARB", 18, "0x912CE59144191C1204E64559FE8253a0e49E6548"],
  ["CAKE", "CAKE", 18, "0xCdc343ebf71e38F003eD6c80171F5B8D7cF58860"],
  ["GMX", "GMX", 18, "0xfc5A1A6EB076a2C7aD06eD22C90d7E710E35ad0a"],
  ["LINK", "LINK", 18, "0xf97f4df75117a78c1A5a0DBb814Af92458539FB4"],
  ["UNI", "UNI", 18, "0xFa7F8980b0f1E64A2062791cc3b0871572f1F7f0"],
  ["AAVE", "AAVE", 18, "0xba5DdD1f9d7F570dc94a51479a000E3BCE967196"],
  ["LDO", "LDO", 18, "0x13Ad51ed4F1B7e9Dc168d8a00cB3f4dDD85EfA60"],
  ["CRV", "CRV", 18, "0x11cDb42B0EB46D95f990BeDD4695A6e3fA034978"],
  ["COMP", "COMP", 18, "0x354A6dA3fcde098F8389cad84b0182725c6C91dE"],
  ["GRT", "GRT", 18, "0x9623063377AD1B27544C965cCd7342f7EA7e88C7"],
  ["PENDLE", "PENDLE", 18, "0x0c880f6761F1af8d9Aa9C466984b80DAb9a8c9e8"],
  ["USDT0", "USDT", 6, "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9"]
])
