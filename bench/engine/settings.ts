/** Settings of the engine as a deployment has them, but for what would start by itself. */
import type { AssetId } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import type { Settings } from "#domain/Settings.ts"

export const benchSettings: Settings["Service"] = {
  brandName: "Ballast",
  rebalanceCooldownMs: 0,
  priceMaxAgeMs: 600_000,
  defaultSwap: { slippageBps: 50, priceImpactBps: 100, thresholdUsd: Decimal.one },
  mirrorCap: { slippageBps: 100, priceImpactBps: 100 },
  minTradeUsd: Decimal.one,
  gas: { portfolioPerDay: 10n ** 12n, tenantPerDay: 10n ** 15n, maxShareBps: 2_500, natives: new Map() },
  transfers: { minUsd: 25n * Decimal.one, costBps: 10, maxCostBps: 100 },
  routes: { minUsd: 50n * Decimal.one, minAdvantageBps: 10 },
  blockedAssets: new Set<AssetId>(),
  scheduler: { intervalMs: 1_000, batch: 200 },
  maxRunsInFlight: 256,
  runRetentionMs: 3_600_000,
  signatureWaitMs: 3_600_000,
  priceHistory: { intervalMs: 3_600_000, batch: 1 },
  valuation: { intervalMs: 3_600_000, batch: 1 },
  discovery: { intervalMs: 3_600_000 }
}
