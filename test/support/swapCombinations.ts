/** Every combination of swap preferences set and unset by strategy and tenant, and what each comes to. */
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

const fields = ["slippageBps", "priceImpactBps", "thresholdUsd"] as const

type Limits = { readonly [Field in keyof SwapPreferences]: NonNullable<SwapPreferences[Field]> }

/** Keeps the fields whose bit is set. */
const masked = (values: Limits, mask: number): SwapPreferences => {
  const kept = <A>(value: A, bit: number): A | null => ((mask >> bit) & 1 ? value : null)
  return {
    slippageBps: kept(values.slippageBps, 0),
    priceImpactBps: kept(values.priceImpactBps, 1),
    thresholdUsd: kept(values.thresholdUsd, 2)
  }
}

const names = (mask: number): string => fields.filter((_, bit) => (mask >> bit) & 1).join(", ") || "nothing"

/** 64 combinations: three fields, each set or unset by each of two levels over the defaults. */
export const swapCombinations = (strategy: Limits, tenant: Limits, defaults: Limits) =>
  Array.from({ length: 64 }, (_, index) => {
    const [ofStrategy, ofTenant] = [index & 7, index >> 3]
    const expected = fields.map((field, bit) => {
      if ((ofStrategy >> bit) & 1) return [field, strategy[field]]
      return [field, (ofTenant >> bit) & 1 ? tenant[field] : defaults[field]]
    })
    return {
      label: `strategy sets ${names(ofStrategy)}; tenant sets ${names(ofTenant)}`,
      strategy: masked(strategy, ofStrategy),
      tenant: masked(tenant, ofTenant),
      expected: Object.fromEntries(expected) as unknown as Limits
    }
  })
