/**
 * Where companies have their seat, as far as it is not the United States. The funds of the catalogue are all of the
 * United States. Source: the companies' annual reports (principal executive offices); 2026-11.
 */
import type { Equity } from "#layers/catalogue/assets/equities.ts"

export const unitedStates = { country: "US", region: "north-america" } as const

export const homes: { readonly [Ticker in Equity]?: { readonly country: string; readonly region: string } } = {
  ARM: { country: "GB", region: "europe" },
  ASML: { country: "NL", region: "europe" },
  BABA: { country: "CN", region: "asia-pacific" },
  IREN: { country: "AU", region: "asia-pacific" },
  NU: { country: "BR", region: "latin-america" },
  SHOP: { country: "CA", region: "north-america" },
  TSM: { country: "TW", region: "asia-pacific" }
}
