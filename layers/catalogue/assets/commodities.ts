/**
 * Physical goods on which some issuer gives claims.
 *
 * Ids are fixed: they were drawn at random once and never change. Source of names: the tokens' own lists (see
 * `tokens/`).
 */

/** Symbol, name, canonical id. */
export const commodities = [["XAU", "Gold, one fine troy ounce", "980d9ebe-7ed0-40e6-b455-b58b14d9a78e"]] as const

export type Commodity = (typeof commodities)[number][0]
