/** What the engine and the rules of its runs read, as a deployment has it, but for what would start by itself. */
import { Layer } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { NativeAssets } from "#domain/chain/NativeAssets.ts"
import { PriceSettings } from "#domain/market/PriceSettings.ts"
import { RebalanceSettings, SchedulerSettings } from "#domain/rebalance/RebalanceSettings.ts"
import { GasSettings } from "#domain/relay/GasBudget.ts"
import { SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { RouteSettings, TransferSettings } from "#domain/trading/RoutingSettings.ts"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"

export const benchSettings = (maxRunsInFlight = 512) =>
  Layer.mergeAll(
    Layer.succeed(NativeAssets, new Map()),
    Layer.succeed(PriceSettings, { maxAgeMs: 600_000 }),
    Layer.succeed(SwapSettings, {
      defaults: { slippageBps: 50, priceImpactBps: 100, thresholdUsd: Decimal.one },
      mirrorCap: { slippageBps: 100, priceImpactBps: 100 },
      minTradeUsd: Decimal.one
    }),
    Layer.succeed(GasSettings, {
      portfolioPerDay: 10n ** 12n,
      tenantPerDay: 10n ** 15n,
      ownerPerDay: 10n ** 12n,
      maxShareBps: 2_500,
      ceilingsUsd: new Map()
    }),
    Layer.succeed(RouteSettings, { minUsd: 50n * Decimal.one, minAdvantageBps: 10 }),
    Layer.succeed(TransferSettings, { minUsd: 25n * Decimal.one, costBps: 10, maxCostBps: 100 }),
    Layer.succeed(RebalanceSettings, { cooldownMs: 0, signatureWaitMs: 3_600_000 }),
    Layer.succeed(SchedulerSettings, { intervalMs: 1_000, batch: 200 }),
    Layer.succeed(EngineConfig, { maxRunsInFlight, runRetentionMs: 3_600_000 })
  )
