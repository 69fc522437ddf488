/**
 * Which rebalance policy a portfolio follows: its strategy's, else its tenant's, else none. A strategy of another
 * tenant is followed within the caps of the portfolio's own tenant: what trading may cost, the minimum trade, and the
 * share of a pool.
 */
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"

export interface PolicySources {
  readonly strategy: RebalancePolicy | undefined
  /** Policy of the tenant whose portfolio it is. */
  readonly tenant: RebalancePolicy | undefined
  /** Whether another tenant created the strategy. */
  readonly isMirrored: boolean
}

const lesser = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other)

const greater = <Value extends number | bigint>(one: Value | undefined, other: Value | undefined): Value | undefined =>
  one === undefined ? other : other === undefined || one > other ? one : other

/** Leaves out what is undefined. */
const given = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof Fields]?: NonNullable<Fields[Key]>
  }

const capped = (policy: RebalancePolicy, caps: RebalancePolicy): RebalancePolicy => {
  const poolShareBps = lesser(policy.slicing?.poolShareBps, caps.slicing?.poolShareBps)
  return {
    ...policy,
    minTrade: given({
      usd: greater(policy.minTrade?.usd, caps.minTrade?.usd),
      gasMultiple: greater(policy.minTrade?.gasMultiple, caps.minTrade?.gasMultiple)
    }),
    maxCostBps: given({
      run: lesser(policy.maxCostBps?.run, caps.maxCostBps?.run),
      week: lesser(policy.maxCostBps?.week, caps.maxCostBps?.week)
    }),
    // A tenant that slices caps the share of strategies that slice, and slices nothing that would not be.
    ...(policy.slicing === undefined || poolShareBps === undefined ? {} : { slicing: { poolShareBps } })
  }
}

export const resolvePolicy = ({ isMirrored, strategy, tenant }: PolicySources): RebalancePolicy | undefined => {
  const policy = strategy ?? tenant
  return policy === undefined || !isMirrored || tenant === undefined ? policy : capped(policy, tenant)
}
