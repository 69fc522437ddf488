/**
 * Coins, stablecoins and wrapped forms on Robinhood Chain.
 *
 * Source: the Uniswap default token list 22.21.0 and the network's own documentation.
 */
import { coinsOn, onChain } from "#layers/catalogue/represent.ts"

/** Symbol on the chain, symbol of the subject, decimals, address. */
export const robinhoodChain = coinsOn(onChain(4663), [
  ["WETH", "ETH", 18, "0x0Bd7D308f8E1639FAb988df18A8011f41EAcAD73"],
  ["cbBTC", "BTC", 8, "0xCEC185eB182c47d1bA1EFc84e6959e18cd620Be4"],
  ["USDG", "USDG", 6, "0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168"]
])
