/** A plan as a run stores it: what to trade on each chain, under which limits, and what was left out. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { Slicing } from "#domain/trading/Slicing.ts"

export const RunPlan = Schema.Struct({
  strategyVersion: Schema.Int,
  /** Time at which balances and prices were read. */
  plannedAt: Schema.DateTimeUtcFromMillis,
  limits: Schema.Struct({
    slippageBps: Schema.Int,
    priceImpactBps: Schema.Int,
    /** Left out: trades are made whole or not at all. */
    slicing: Schema.optionalKey(Slicing),
    /** US dollars (wad) that one more swap costs on a chain. Left out: a trade goes over one path. */
    swapGas: Schema.optionalKey(Schema.Array(Schema.Struct({ chainId: ChainId, usd: Schema.BigIntFromString })))
  }),
  chains: Schema.Array(PlannedChain),
  /** Why chains are left out whose nodes are behind what is known of their accounts; left out where none is. */
  behind: Schema.optionalKey(Schema.String),
  /** Who else may move assets of the accounts; left out where no account was read that could show it. */
  authorities: Schema.optionalKey(Schema.Array(ForeignAuthority)),
  /** Routes between chains were closed when it was made: the end of the run counts them down. */
  hasClosedRoutes: Schema.optionalKey(Schema.Boolean),
  /** The run was cancelled before it was planned: there is nothing to do. */
  isCancelled: Schema.optionalKey(Schema.Boolean)
})
export type RunPlan = typeof RunPlan.Type
