/**
 * Registered shares of Superstate Opening Bell on Solana.
 *
 * Source: mainnet data of the mint.
 */
import { onSolana, tokenized } from "#layers/catalogue/represent.ts"

export const superstate = tokenized(
  { issuer: "superstate", chain: onSolana, unitModel: "plain", decimals: 6, symbolOf: (ticker) => ticker },
  {
    GLXY: "2HehXG149TXuVptQhbiWAWDjbbuCsXSAtLTB5wc2aajK"
  }
)
