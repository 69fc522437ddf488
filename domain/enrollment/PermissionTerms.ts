/**
 * What an owner may sign beside the guard's own rules: tighter limits on what trades lose, and a closed list of what
 * may be bought. Wider limits are not offered: wallets show a hash, so the owner would not see them. Source:
 * docs/decisions/0119-terms-that-owners-sign.md.
 */
import { Result } from "effect"
import type { Authorization, ChainAuthorization } from "#domain/account/Authorization.ts"
import { type GuardTerms, isGuarded, termsOf } from "#domain/account/Permission.ts"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import type { TenantTerms } from "#domain/tenant/TenantPreferences.ts"

/** The guard's own limits, in basis points: the widest that are signed. */
export const widestTermsBps = 200

export interface PermissionTerms {
  readonly maxTradeLossBps?: number
  readonly maxWeeklyLossBps?: number
  /** The only assets that the agent may buy, of all chains. */
  readonly closedList?: ReadonlyArray<AssetId>
}

const isNonEmpty = <A>(list: ReadonlyArray<A>): list is readonly [A, ...ReadonlyArray<A>] => list.length > 0

const closedOn = (
  closedList: ReadonlyArray<AssetId>,
  chainId: ChainId
): Result.Result<readonly [AssetId, ...ReadonlyArray<AssetId>], ValidationFailed> => {
  const assets = closedList.filter((assetId) => chainIdOf(assetId) === chainId)
  return isNonEmpty(assets)
    ? Result.succeed(assets)
    : Result.fail(
        new ValidationFailed({
          message:
            "A closed list names at least one asset of each chain; without one the agent could buy nothing there",
          details: [`terms.closedList: names no asset of chain ${chainId}`]
        })
      )
}

/** The terms of a chain: those of the request; without any, those of the permission that counts there. */
export const termsOn = (
  chainId: ChainId,
  terms: PermissionTerms | undefined,
  present: GuardTerms | undefined
): Result.Result<GuardTerms | undefined, ValidationFailed> => {
  if (terms === undefined) return Result.succeed(present)
  const limits = { tradeBps: terms.maxTradeLossBps ?? 0, budgetBps: terms.maxWeeklyLossBps ?? 0 }
  return terms.closedList === undefined
    ? Result.succeed(limits)
    : Result.map(closedOn(terms.closedList, chainId), (assets) => ({ ...limits, closedList: assets }))
}

/**
 * The terms of a chain that is added to others: the limits that the owner signed there, and where the owner closed what
 * may be bought, a closed list of what the strategy holds on the new chain. A list that was closed never opens by
 * itself.
 */
export const termsOfAdded = (
  chainId: ChainId,
  chains: ReadonlyArray<ChainAuthorization>,
  targets: ReadonlyArray<AssetId>
): Result.Result<GuardTerms | undefined, ValidationFailed> => {
  const guards = chains.flatMap((chain) => termsOf(chain) ?? [])
  const [guard] = guards
  if (guard === undefined) return Result.succeed(undefined)
  const limits = { tradeBps: guard.tradeBps, budgetBps: guard.budgetBps }
  if (guards.every(({ closedList }) => closedList === undefined)) return Result.succeed(limits)
  const assets = targets.filter((assetId) => chainIdOf(assetId) === chainId)
  return isNonEmpty(assets)
    ? Result.succeed({ ...limits, closedList: assets })
    : Result.fail(
        new ValidationFailed({
          message:
            "The owner closed the list of what may be bought, and the strategy holds nothing on this chain; add the chain once it does, or sign the portfolio's chains anew without a closed list first",
          details: [`chainIds: the closed list has no asset of chain ${chainId}`]
        })
      )
}

/** The tighter of what would be signed and what the tenant allows at most; zero stands for the guard's own limit. */
export const tightened = (terms: GuardTerms | undefined, tenant: TenantTerms | undefined): GuardTerms | undefined => {
  if (tenant === undefined) return terms
  const tighter = (bps: number | undefined, most = widestTermsBps) => {
    const least = Math.min(bps === undefined || bps === 0 ? widestTermsBps : bps, most)
    return least === widestTermsBps ? 0 : least
  }
  return {
    ...terms,
    tradeBps: tighter(terms?.tradeBps, tenant.maxTradeLossBps),
    budgetBps: tighter(terms?.budgetBps, tenant.maxWeeklyLossBps)
  }
}

/** Refuses terms for a chain on which nothing would enforce them. */
export const requireGuarded = (
  { chains }: Authorization,
  terms: PermissionTerms | undefined
): Result.Result<void, ValidationFailed> => {
  const unguarded = chains.filter((chain) => !isGuarded(chain)).map(({ chainId }) => chainId)
  return terms === undefined || unguarded.length === 0
    ? Result.succeed(undefined)
    : Result.fail(
        new ValidationFailed({
          message:
            "Terms are enforced by the trade guard, which these chains do not have; leave the terms or the chains out",
          details: [`terms: no guard on chain ${unguarded.join(", ")}`]
        })
      )
}
