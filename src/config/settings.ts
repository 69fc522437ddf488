/** The settings of business rules: swaps, gas, transfers, routes, the scheduler and the passes. */
import { Effect } from "effect"
import { AssetId } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import type { Settings } from "#domain/Settings.ts"
import { wrappedNatives } from "#src/config/chains.ts"
import * as Kind from "#src/config/kinds.ts"
import { all, type Setting, withDefault } from "#src/config/Setting.ts"

const seconds = (maximum: number, example: string) => Kind.integer(0, maximum, example)
const gas = (example: string) => Kind.integer(1_000_000, 1_000_000_000_000_000, example)
const basisPoints = (example: string) => Kind.integer(1, 10_000, example)

export const settings: Setting<Settings["Service"]> = Effect.map(
  all({
    brandName: withDefault("BRAND_NAME", Kind.text("a name", "Ballast"), "Ballast"),
    cooldownSeconds: withDefault("REBALANCE_COOLDOWN_SECONDS", seconds(86_400, "60"), 60),
    priceMaxAgeSeconds: withDefault("PRICE_MAX_AGE_SECONDS", seconds(86_400, "600"), 600),
    slippageBps: withDefault("SWAP_SLIPPAGE_BPS", basisPoints("50"), 50),
    priceImpactBps: withDefault("SWAP_PRICE_IMPACT_BPS", basisPoints("100"), 100),
    thresholdUsd: withDefault(
      "SWAP_THRESHOLD_USD",
      Kind.kind(Decimal.UsdFromString, "US dollars with at most 6 decimal places", "1.00"),
      Decimal.one
    ),
    mirrorSlippageBps: withDefault("MIRROR_MAX_SLIPPAGE_BPS", basisPoints("100"), 100),
    mirrorImpactBps: withDefault("MIRROR_MAX_PRICE_IMPACT_BPS", basisPoints("100"), 100),
    minTradeUsd: withDefault(
      "TRADE_MIN_USD",
      Kind.kind(Decimal.UsdFromString, "US dollars with at most 6 decimal places", "1.00"),
      Decimal.one
    ),
    gasOfPortfolio: withDefault("GAS_PER_PORTFOLIO_AND_DAY", gas("30000000"), 30_000_000),
    gasOfTenant: withDefault("GAS_PER_TENANT_AND_DAY", gas("10000000000"), 10_000_000_000),
    gasShareBps: withDefault("GAS_MAX_SHARE_BPS", Kind.integer(1, 1_000_000, "10000"), 10_000),
    transferMinUsd: withDefault(
      "TRANSFER_MIN_USD",
      Kind.kind(Decimal.UsdFromString, "US dollars with at most 6 decimal places", "50.00"),
      50n * Decimal.one
    ),
    transferCostBps: withDefault("TRANSFER_COST_BPS", Kind.integer(0, 1_000, "10"), 10),
    transferMaxCostBps: withDefault("TRANSFER_MAX_COST_BPS", Kind.integer(1, 1_000, "100"), 100),
    routeMinUsd: withDefault(
      "ROUTE_MIN_USD",
      Kind.kind(Decimal.UsdFromString, "US dollars with at most 6 decimal places", "50.00"),
      50n * Decimal.one
    ),
    routeAdvantageBps: withDefault("ROUTE_MIN_ADVANTAGE_BPS", Kind.integer(0, 10_000, "10"), 10),
    blocklist: withDefault<ReadonlyArray<AssetId>>(
      "ASSET_BLOCKLIST",
      Kind.listOf(
        Kind.kind(AssetId, "a CAIP-19 asset", "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
      ),
      []
    ),
    intervalMs: withDefault("SCHEDULER_INTERVAL_MS", Kind.integer(10, 3_600_000, "1000"), 1000),
    batch: withDefault("SCHEDULER_BATCH", Kind.integer(1, 10_000, "200"), 200),
    maxRunsInFlight: withDefault("MAX_RUNS_IN_FLIGHT", Kind.integer(0, 10_000, "256"), 256),
    runRetentionHours: withDefault("RUN_RETENTION_HOURS", Kind.integer(1, 87_600, "168"), 168),
    signatureWaitHours: withDefault("SIGNATURE_WAIT_HOURS", Kind.integer(1, 8_760, "168"), 168),
    priceHistorySeconds: withDefault("PRICE_HISTORY_INTERVAL_SECONDS", Kind.integer(1, 86_400, "60"), 60),
    priceHistoryBatch: withDefault("PRICE_HISTORY_BATCH", Kind.integer(1, 1_000, "10"), 10),
    valuationSeconds: withDefault("VALUATION_INTERVAL_SECONDS", Kind.integer(1, 86_400, "3600"), 3600),
    valuationBatch: withDefault("VALUATION_BATCH", Kind.integer(1, 1_000, "200"), 200),
    discoverySeconds: withDefault("DISCOVERY_INTERVAL_SECONDS", Kind.integer(1, 86_400, "300"), 300)
  }),
  (read) => ({
    brandName: read.brandName,
    rebalanceCooldownMs: read.cooldownSeconds * 1000,
    priceMaxAgeMs: read.priceMaxAgeSeconds * 1000,
    defaultSwap: {
      slippageBps: read.slippageBps,
      priceImpactBps: read.priceImpactBps,
      thresholdUsd: read.thresholdUsd
    },
    mirrorCap: { slippageBps: read.mirrorSlippageBps, priceImpactBps: read.mirrorImpactBps },
    minTradeUsd: read.minTradeUsd,
    gas: {
      portfolioPerDay: BigInt(read.gasOfPortfolio),
      tenantPerDay: BigInt(read.gasOfTenant),
      maxShareBps: read.gasShareBps,
      natives: wrappedNatives
    },
    transfers: {
      minUsd: read.transferMinUsd,
      costBps: read.transferCostBps,
      maxCostBps: Math.max(read.transferCostBps, read.transferMaxCostBps)
    },
    routes: { minUsd: read.routeMinUsd, minAdvantageBps: read.routeAdvantageBps },
    blockedAssets: new Set(read.blocklist),
    scheduler: { intervalMs: read.intervalMs, batch: read.batch },
    maxRunsInFlight: read.maxRunsInFlight,
    runRetentionMs: read.runRetentionHours * 3_600_000,
    signatureWaitMs: read.signatureWaitHours * 3_600_000,
    priceHistory: { intervalMs: read.priceHistorySeconds * 1000, batch: read.priceHistoryBatch },
    valuation: { intervalMs: read.valuationSeconds * 1000, batch: read.valuationBatch },
    discovery: { intervalMs: read.discoverySeconds * 1000 }
  })
)
