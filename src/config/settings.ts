/** The settings of business rules and of the engine: swaps, gas, transfers, routes, the scheduler and the passes. */
import { Effect, Layer } from "effect"
import { BrandName } from "#domain/values/BrandName.ts"
import { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { NativeAssets } from "#domain/chain/NativeAssets.ts"
import { DiscoverySettings } from "#domain/discovery/DiscoverySettings.ts"
import { PriceHistorySettings, PriceSettings } from "#domain/market/PriceSettings.ts"
import { ValuationSettings } from "#domain/performance/ValuationSettings.ts"
import { RebalanceSettings, SchedulerSettings } from "#domain/rebalance/RebalanceSettings.ts"
import { GasSettings } from "#domain/relay/GasBudget.ts"
import { SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { RouteSettings, TransferSettings } from "#domain/trading/RoutingSettings.ts"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"
import { gasCeilingsUsd, wrappedNatives } from "#src/config/chains.ts"
import * as Kind from "#src/config/kinds.ts"
import { all, type Setting, withDefault } from "#src/config/Setting.ts"

const seconds = (maximum: number, example: string) => Kind.integer(0, maximum, example)
const gas = (example: string) => Kind.integer(1_000_000, 1_000_000_000_000_000, example)
const basisPoints = (example: string) => Kind.integer(1, 10_000, example)

/** A part for each service that reads one; `blockedAssets` belong to the token lists. */
export interface ServiceSettings {
  readonly brandName: string
  readonly blockedAssets: ReadonlySet<AssetId>
  readonly natives: NativeAssets["Service"]
  readonly prices: PriceSettings["Service"]
  readonly priceHistory: PriceHistorySettings["Service"]
  readonly swaps: SwapSettings["Service"]
  readonly gas: GasSettings["Service"]
  readonly routes: RouteSettings["Service"]
  readonly transfers: TransferSettings["Service"]
  readonly rebalances: RebalanceSettings["Service"]
  readonly scheduler: SchedulerSettings["Service"]
  readonly engine: EngineConfig["Service"]
  readonly valuation: ValuationSettings["Service"]
  readonly discovery: DiscoverySettings["Service"]
}

export const settings: Setting<ServiceSettings> = Effect.map(
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
    gasOfOwner: withDefault("GAS_OF_OWNER_PER_PORTFOLIO_AND_DAY", gas("30000000"), 30_000_000),
    gasShareBps: withDefault("GAS_MAX_SHARE_BPS", Kind.integer(1, 1_000_000, "10000"), 10_000),
    gasCeilingsUsd,
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
    maxRunsInFlight: withDefault("MAX_RUNS_IN_FLIGHT", Kind.integer(0, 10_000, "512"), 512),
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
    blockedAssets: new Set(read.blocklist),
    natives: wrappedNatives,
    prices: { maxAgeMs: read.priceMaxAgeSeconds * 1000 },
    priceHistory: { intervalMs: read.priceHistorySeconds * 1000, batch: read.priceHistoryBatch },
    swaps: {
      defaults: {
        slippageBps: read.slippageBps,
        priceImpactBps: read.priceImpactBps,
        thresholdUsd: read.thresholdUsd
      },
      mirrorCap: { slippageBps: read.mirrorSlippageBps, priceImpactBps: read.mirrorImpactBps },
      minTradeUsd: read.minTradeUsd
    },
    gas: {
      portfolioPerDay: BigInt(read.gasOfPortfolio),
      tenantPerDay: BigInt(read.gasOfTenant),
      ownerPerDay: BigInt(read.gasOfOwner),
      maxShareBps: read.gasShareBps,
      ceilingsUsd: read.gasCeilingsUsd
    },
    routes: { minUsd: read.routeMinUsd, minAdvantageBps: read.routeAdvantageBps },
    transfers: {
      minUsd: read.transferMinUsd,
      costBps: read.transferCostBps,
      maxCostBps: Math.max(read.transferCostBps, read.transferMaxCostBps)
    },
    rebalances: {
      cooldownMs: read.cooldownSeconds * 1000,
      signatureWaitMs: read.signatureWaitHours * 3_600_000
    },
    scheduler: { intervalMs: read.intervalMs, batch: read.batch },
    engine: { maxRunsInFlight: read.maxRunsInFlight, runRetentionMs: read.runRetentionHours * 3_600_000 },
    valuation: { intervalMs: read.valuationSeconds * 1000, batch: read.valuationBatch },
    discovery: { intervalMs: read.discoverySeconds * 1000 }
  })
)

/** Each of them beside what reads it. */
export const settingsLayer = (settings: Omit<ServiceSettings, "blockedAssets">) =>
  Layer.mergeAll(
    Layer.succeed(BrandName, settings.brandName),
    Layer.succeed(NativeAssets, settings.natives),
    Layer.succeed(PriceSettings, settings.prices),
    Layer.succeed(PriceHistorySettings, settings.priceHistory),
    Layer.succeed(SwapSettings, settings.swaps),
    Layer.succeed(GasSettings, settings.gas),
    Layer.succeed(RouteSettings, settings.routes),
    Layer.succeed(TransferSettings, settings.transfers),
    Layer.succeed(RebalanceSettings, settings.rebalances),
    Layer.succeed(SchedulerSettings, settings.scheduler),
    Layer.succeed(EngineConfig, settings.engine),
    Layer.succeed(ValuationSettings, settings.valuation),
    Layer.succeed(DiscoverySettings, settings.discovery)
  )
