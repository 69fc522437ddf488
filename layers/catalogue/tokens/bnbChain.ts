/**
 * Coins, stablecoins and wrapped forms on BNB Chain.
 *
 * Source: the Uniswap default token list 22.21.0.
 */
import { coinsOn, onChain } from "#layers/catalogue/represent.ts"

/** Symbol on the chain, symbol of the subject, decimals, address. */
export const bnbChain = coinsOn(onChain(56), [
  ["WBNB", "BNB", 18, "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"],
  ["WETH", "ETH", 18, "0x2170Ed0880ac9A755fd29B2688956BD959F933F8"],
  ["USDC", "USDC", 18, "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"],
  ["USDT", "USDT", 18, "0x55d398326f99059fF775485246999027B3197955"],
  ["DAI", "DAI", 18, "0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3"],
  ["UNI", "UNI", 18, "0xBf5140A22578168FD562DCcF235E5D43A02ce9B1"],
  ["AAVE", "AAVE", 18, "0xfb6115445Bff7b52FeB98650C87f44907E58f802"],
  ["LINK", "LINK", 18, "0xF8A0BF9cF54Bb92F17374d9e9A321E6a111a51bD"],
  ["COMP", "COMP", 18, "0x52CE071Bd9b1C4B00A0b92D298c512478CaD67e8"],
  ["1INCH", "1INCH", 18, "0x111111111117dC0aa78b770fA6A738034120C302"],
  ["AXS", "AXS", 18, "0x715D400F88C167884bbCc41C5FeA407ed4D2f8A0"],
  ["FET", "FET", 18, "0x031b41e504677879370e9DBcF937283A8691Fa7f"]
])
