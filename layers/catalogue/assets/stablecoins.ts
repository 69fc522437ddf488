/**
 * Tokens that follow a currency.
 *
 * Ids are fixed: they were drawn at random once and never change. Source of names: the tokens' own lists (see
 * `tokens/`).
 */

/** Symbol, name, canonical id. */
export const stablecoins = [
  ["DAI", "Dai", "f8131f61-ff8c-4ec9-8604-64ad683ba02b"],
  ["EURC", "EURC", "7db8f404-83b1-4927-bff4-20adaffafdbc"],
  ["PYUSD", "PayPal USD", "3caa5e15-16d9-4dd5-817b-c8692641bd75"],
  ["USDC", "USD Coin", "bcdeaefd-258f-4614-bcd6-8c5eea3d5720"],
  ["USDG", "Global Dollar", "7694aa79-ff16-4fb3-b356-41f8960724d5"],
  ["USDS", "USDS", "978f7632-2b68-477c-bcd3-50ffc9221027"],
  ["USDT", "Tether USD", "dde5138e-f9ee-4ac9-8750-8cd4567655ef"]
] as const

export type Stablecoin = (typeof stablecoins)[number][0]
