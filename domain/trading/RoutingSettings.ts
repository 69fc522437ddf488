/** Rules by which a routing provider is asked, and what it may cost. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * Bounds of swaps over a provider's routes.
 *
 * **When to use**
 *
 * Use in `BestQuotes` alone.
 */
export class RouteSettings extends Context.Service<
  RouteSettings,
  {
    /** The minimum swap that the provider is asked for, US dollars (wad). */
    readonly minUsd: bigint
    /** Basis points by which a route must beat the venue after gas. */
    readonly minAdvantageBps: number
  }
>()("ballast/domain/trading/RouteSettings") {}

/**
 * Bounds of moves of value between chains.
 *
 * **When to use**
 *
 * Use to plan transfers, and to check what the provider offers for one.
 */
export class TransferSettings extends Context.Service<
  TransferSettings,
  {
    /** The minimum transfer, US dollars (wad). */
    readonly minUsd: bigint
    /** What one usually costs, basis points. */
    readonly costBps: number
    /** What one may cost at most, basis points: `costBps` or more. */
    readonly maxCostBps: number
  }
>()("ballast/domain/trading/TransferSettings") {}
