/**
 * Claims on gold in vaults, one fine troy ounce a token.
 *
 * Source: the Uniswap default token list 22.21.0.
 */
import { claimsOn, onChain } from "#layers/catalogue/represent.ts"

/** Issuer, symbol on the chain, symbol of the subject, decimals, address. */
export const gold = claimsOn(onChain(1), [
  ["paxos", "PAXG", "XAU", 18, "0x45804880De22913dAFE09f4980848ECE6EcbAf78"],
  ["tether", "XAUT", "XAU", 6, "0x68749665FF8D2d112Fa859AA293F07A622782F38"]
])
