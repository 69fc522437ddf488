/** Settings of a deployment that business rules read. Filled from the environment by src/Config.ts. */
import { Context } from "effect"
import type { AssetId, ChainId } from "#domain/Caip.ts"

/**
 * What a deployment may set of the rules.
 *
 * **When to use**
 *
 * Use in a rule that depends on a number which operators choose. Settings of streams are `StreamSettings`, those of the
 * market-data worker `WorkerSettings`.
 *
 * **Details**
 *
 * Values are read once, at the start. Durations are milliseconds, money is US dollars (wad), rates are basis points.
 */
export class Settings extends Context.Service<
  Settings,
  {
    /** Name in front of people: legal pages, typed-data domains. */
    readonly brandName: string
    /** Milliseconds after a manual rebalance in which another of the same portfolio is refused. */
    readonly rebalanceCooldownMs: number
    /** A price older than this many milliseconds is stale: it values, but nothing is traded on it. */
    readonly priceMaxAgeMs: number
    /** Defaults where neither strategy nor tenant sets a value. */
    readonly defaultSwap: {
      readonly slippageBps: number
      readonly priceImpactBps: number
      readonly thresholdUsd: bigint
    }
    /** Upper limits for swaps of a portfolio that mirrors another tenant's strategy, whatever is set elsewhere. */
    readonly mirrorCap: { readonly slippageBps: number; readonly priceImpactBps: number }
    /** No trade below this value (US dollars, wad) is made, whatever threshold is set. */
    readonly minTradeUsd: bigint
    /**
     * Gas that the service pays for. Budgets are units of gas a UTC day, of one portfolio and of all of a tenant; a
     * batch of trades may cost at most `maxShareBps` basis points of what it moves, by the price of the asset in
     * `natives`.
     */
    readonly gas: {
      readonly portfolioPerDay: bigint
      readonly tenantPerDay: bigint
      readonly maxShareBps: number
      readonly natives: ReadonlyMap<ChainId, AssetId>
    }
    /**
     * Moves of value between chains: the least, US dollars (wad); what one usually costs, and may cost at most, in
     * basis points.
     */
    readonly transfers: { readonly minUsd: bigint; readonly costBps: number; readonly maxCostBps: number }
    /**
     * Swaps over a provider's routes: the least one for a request, US dollars (wad), and by how many basis points
     * a route must beat the venue after gas.
     */
    readonly routes: { readonly minUsd: bigint; readonly minAdvantageBps: number }
    readonly blockedAssets: ReadonlySet<AssetId>
    /** How often due portfolios are polled for, in milliseconds, and how many are claimed at once. */
    readonly scheduler: { readonly intervalMs: number; readonly batch: number }
    /** How many runs one process works on at once; what is due beyond that waits. */
    readonly maxRunsInFlight: number
    /** Milliseconds that a finished run's steps are kept, so that people can inspect it. */
    readonly runRetentionMs: number
    /** Milliseconds that a run waits for a new signature of the owner before it fails. */
    readonly signatureWaitMs: number
    /**
     * How often missing daily prices are filled in, in milliseconds, and how many histories are fetched in that time.
     */
    readonly priceHistory: { readonly intervalMs: number; readonly batch: number }
    /** How often every portfolio is valued, in milliseconds, and how many at once. */
    readonly valuation: { readonly intervalMs: number; readonly batch: number }
    /** How often the strategies of discovery are measured, in milliseconds. */
    readonly discovery: { readonly intervalMs: number }
  }
>()("ballast/domain/Settings") {}
