/** Settings that tests share. */
import { Layer } from "effect"
import * as Decimal from "#domain/Decimal.ts"
import { Settings } from "#domain/Settings.ts"

export const testSettings: Settings["Service"] = {
  brandName: "Ballast",
  rebalanceCooldownMs: 60_000,
  priceMaxAgeMs: 600_000,
  defaultSwap: { slippageBps: 50, priceImpactBps: 100, thresholdUsd: Decimal.one },
  mirrorCap: { slippageBps: 100, priceImpactBps: 100 },
  minTradeUsd: Decimal.one,
  gas: { portfolioPerDay: 10n ** 12n, tenantPerDay: 10n ** 15n, maxShareBps: 2_500, natives: new Map() },
  transfers: { minUsd: 50n * Decimal.one, costBps: 10, maxCostBps: 100 },
  routes: { minUsd: 50n * Decimal.one, minAdvantageBps: 10 },
  blockedAssets: new Set(),
  scheduler: { intervalMs: 50, batch: 200 },
  maxRunsInFlight: 64,
  runRetentionMs: 3_600_000,
  signatureWaitMs: 3_600_000,
  priceHistory: { intervalMs: 60_000, batch: 10 },
  valuation: { intervalMs: 3_600_000, batch: 2 },
  discovery: { intervalMs: 60_000 }
}

export const TestSettings = Layer.succeed(Settings, Settings.of(testSettings))
