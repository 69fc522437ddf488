/**
 * What the rebalance planner reads and what it answers.
 *
 * US dollars are wad integers (18 decimal places, `Decimal.ts`), token amounts are raw units, weights are basis
 * points of the whole portfolio.
 */
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import type { Skip } from "#domain/values/Skip.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { PlannedLeg, PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"

/** One asset of interest on a chain: held, or in the allocation, or both. At most one entry an asset. */
export interface Holding {
  readonly assetId: AssetId
  /** Decimal places of the token. */
  readonly decimals: number
  /** What the account holds, zero or more. */
  readonly balanceRaw: bigint
  /** The token did not answer what the account holds: it is taken to be on target, and not traded. */
  readonly isUnread?: boolean
  /**
   * What is on its way to the account from another chain: it counts as held, but cannot be sold yet. None when left
   * out.
   */
  readonly incomingRaw?: bigint
  /**
   * Nobody asked for the holding, and the venues pay too little of what it is worth by its price (US dollars, wad) for
   * that to count: it has no price here. Left out where that is not so.
   */
  readonly unbacked?: { readonly valueUsd: bigint; readonly paidUsd: bigint }
  /** Price of one whole token in US dollars (wad); `null` when there is none. A price of zero counts as none. */
  readonly priceUsd: bigint | null
  /** The price is known but too old to trade on. */
  readonly priceIsStale: boolean
  /** Somebody else who may move it, or close its account: it is neither bought nor sold. Left out where nobody may. */
  readonly foreignAuthority?: string
  /** The asset must be neither bought nor sold. */
  readonly isBlocked: boolean
  /** The policy that the chain enforces lets the agent buy it. */
  readonly isAuthorized: boolean
}

/** The account on one chain as it stands. */
export interface ChainHoldings {
  readonly chainId: ChainId
  /** False when the chain could not be read: its holdings are not used. */
  readonly available: boolean
  readonly holdings: ReadonlyArray<Holding>
  /** Expected cost of one swap on the chain, as in `PlanInput`; left out: what the input says. */
  readonly feeBps?: number
}

/** One way that value can take between chains. */
export interface ChainPair {
  readonly from: ChainId
  readonly to: ChainId
}

/** How value moves between chains. */
export interface TransferTerms {
  /** The asset that a chain sends and receives, for each chain that does. */
  readonly assets: ReadonlyMap<ChainId, AssetId>
  /** Expected cost of a transfer in basis points of what leaves; 0 to 9,999. */
  readonly feeBps: number
  /** Minimum transfer worth making, US dollars (wad). */
  readonly minUsd: bigint
  /** Pairs of chains for which there is no acceptable route now: nothing is sent on them. None when left out. */
  readonly refused?: ReadonlyArray<ChainPair>
  /** It is not clear where an earlier transfer is: nothing is sent on any way until it is. */
  readonly isUnclear?: boolean
}

/** Everything that decides a plan. The same input always gives the same plan. */
export interface PlanInput {
  readonly chains: ReadonlyArray<ChainHoldings>
  /** The target of the whole portfolio; sums to 10,000 over all chains, each asset once. */
  readonly allocation: Allocation
  readonly preferences: {
    /** Minimum deviation and minimum leg worth trading, US dollars (wad), zero or more. */
    readonly thresholdUsd: bigint
  }
  /**
   * Expected cost of one swap in basis points of the value sold, venue and integrator fee together; 0 to 9,999. Where
   * chains differ, that of the dearest: transfers between them are weighed by it.
   */
  readonly feeBps: number
  /**
   * Surplus in basis points that is sold beyond what whole units of a coarse token cost, 0 to 5,000: the market gives
   * none in part. Left out: none.
   */
  readonly headroomBps?: number
  /** Left out: value stays on its chain. */
  readonly transfers?: TransferTerms
  /** Left out: every deviation of the threshold is traded to the target. */
  readonly policy?: PlanPolicy
}

/** What one swap on the chain is expected to cost, in basis points of what is sold. */
export const feeBpsOn = ({ chains, feeBps }: Pick<PlanInput, "chains" | "feeBps">, chainId: ChainId): number =>
  chains.find((chain) => chain.chainId === chainId)?.feeBps ?? feeBps

/** One swap on its chain: sells an exact amount of one asset for another. */
export interface Leg extends PlannedLeg {
  readonly chainId: ChainId
}

/** One move of value to another chain, once the legs of its own chain are done. */
export interface TransferLeg extends PlannedTransfer {
  readonly fromChainId: ChainId
  readonly toChainId: ChainId
}

/** Where one asset stands and where the plan puts it. */
export interface AssetTarget {
  readonly assetId: AssetId
  /** Basis points of the whole portfolio; its share of the chain is `weight / ChainPlan.weight`. Zero: to be sold. */
  readonly weight: number
  /**
   * Value held before the plan, what earlier transfers still bring included; US dollars (wad). What this plan trades or
   * transfers is not in it. `null` when there is no price.
   */
  readonly valueUsd: bigint | null
  /** Its share of the chain once the costs of the plan are paid; `null` when what is held has no price. */
  readonly targetUsd: bigint | null
}

/** What to do on one chain, and why: what a run stores of it, every part with its chain. */
export interface ChainPlan extends PlannedChain {
  /** Value of everything on the chain that has a price, US dollars (wad); `null` when the chain is unavailable. */
  readonly valueUsd: bigint | null
  /** Sum of the weights that share that value, in basis points of the whole portfolio. */
  readonly weight: number
  readonly targets: ReadonlyArray<AssetTarget>
  readonly legs: ReadonlyArray<Leg>
  readonly transfers: ReadonlyArray<TransferLeg>
  readonly skips: ReadonlyArray<Skip>
}

/** One entry for each chain of the input, in its order. */
export interface Plan {
  readonly chains: ReadonlyArray<ChainPlan>
}
