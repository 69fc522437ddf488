/** Settings that tests share. */
import * as Decimal from "#domain/values/Decimal.ts"
import { type ServiceSettings, settingsLayer } from "#src/config/settings.ts"

export const testSettings: ServiceSettings = {
  brandName: "Ballast",
  blockedAssets: new Set(),
  natives: new Map(),
  prices: { maxAgeMs: 600_000 },
  priceHistory: { intervalMs: 60_000, batch: 10 },
  swaps: {
    defaults: { slippageBps: 50, priceImpactBps: 100, thresholdUsd: Decimal.one },
    mirrorCap: { slippageBps: 100, priceImpactBps: 100 },
    minTradeUsd: Decimal.one
  },
  gas: {
    portfolioPerDay: 10n ** 12n,
    tenantPerDay: 10n ** 15n,
    ownerPerDay: 10n ** 12n,
    maxShareBps: 2_500,
    ceilingsUsd: new Map()
  },
  routes: { minUsd: 50n * Decimal.one, minAdvantageBps: 10 },
  transfers: { minUsd: 50n * Decimal.one, costBps: 10, maxCostBps: 100 },
  rebalances: { cooldownMs: 60_000, signatureWaitMs: 3_600_000 },
  scheduler: { intervalMs: 50, batch: 200 },
  engine: { maxRunsInFlight: 64, runRetentionMs: 3_600_000 },
  valuation: { intervalMs: 3_600_000, batch: 2 },
  discovery: { intervalMs: 60_000 }
}

/** All settings, some of them others. */
export const testSettingsWith = (others: Partial<ServiceSettings>) => settingsLayer({ ...testSettings, ...others })

export const TestSettings = testSettingsWith({})
