/**
 * Coins, stablecoins and wrapped forms on Solana.
 *
 * Source: the Uniswap default token list 22.21.0.
 */
import { coinsOn, onSolana } from "#layers/catalogue/represent.ts"

/** Symbol on the chain, symbol of the subject, decimals, mint. */
export const solana = coinsOn(onSolana, [
  ["SOL", "SOL", 9, "So11111111111111111111111111111111111111112"],
  ["USDC", "USDC", 6, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"],
  ["USDT", "USDT", 6, "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"],
  ["PYUSD", "PYUSD", 6, "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"],
  ["USDG", "USDG", 6, "2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH"],
  ["USDS", "USDS", 6, "USDSwr9ApdHk5bvJKMjzff41FfuX8bSxdKcR81vTwcA"],
  ["EURC", "EURC", 6, "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"],
  ["JUP", "JUP", 6, "JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN"],
  ["BONK", "BONK", 5, "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"],
  ["JTO", "JTO", 9, "jtojtomepa8beP8AuQc6eXt5FriJwfFMwQx2v2f9mCL"],
  ["PYTH", "PYTH", 6, "HZ1JovNiVvGrGNiiYvEozEVgZ58xaU3RKwX8eACQBCt3"],
  ["RAY", "RAY", 6, "4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R"],
  ["RENDER", "RENDER", 8, "rndrizKT3MK1iimdxRdWabcF7Zg7AR5T4nud4EkHBof"],
  ["WIF", "WIF", 6, "EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm"],
  ["W", "W", 6, "85VBFQZC9TZkfaptBWjvUw7YbZjy52A6mjtPGjstQAmQ"]
])
