/**
 * Coins, stablecoins and wrapped forms on Base.
 *
 * Source: the Uniswap default token list 22.21.0.
 */
import { coinsOn, onChain } from "#layers/catalogue/represent.ts"

/** Symbol on the chain, symbol of the subject, decimals, address. */
export const base = coinsOn(onChain(8453), [
  ["WETH", "ETH", 18, "0x4200000000000000000000000000000000000006"],
  ["cbBTC", "BTC", 8, "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"],
  ["USDC", "USDC", 6, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
  ["DAI", "DAI", 18, "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb"],
  ["EURC", "EURC", 6, "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"],
  ["cbETH", "cbETH", 18, "0x2Ae3F1Ec7F1F5012CFEab0185bfc7aa3cf0DEc22"],
  ["AERO", "AERO", 18, "0x940181a94A35A4569E4529A3CDfB74e38FD98631"],
  ["DEGEN", "DEGEN", 18, "0x4ed4E862860beD51a9570b96d89aF5E1B0Efefed"],
  ["VIRTUAL", "VIRTUAL", 18, "0x0b3e328455c4059EEb9e3f84b5543F74E24e7E1b"],
  ["UNI", "UNI", 18, "0xc3De830EA07524a0761646a6a4e4be0e114a3C83"],
  ["COMP", "COMP", 18, "0x9e1028F5F1D5eDE59748FFceE5532509976840E0"]
])
