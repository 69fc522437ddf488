/**
 * What rules ask about the agent's permission on a chain, whatever the family of the chain: what it may buy, what may
 * leave, on which terms. What enforces it there (routers, guards, contracts of bridges) is for the family's adapter.
 */
import { type Address, addressOf, assetAt, type AssetId, chainIdOf } from "#domain/Caip.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"

/** A permission on one chain. */
type Permission = Pick<ChainAuthorization, "chainId" | "policy">

/**
 * Whether the owner lets the agent buy an asset. Under the guard that is for the chain's registry to say, which the
 * simulation asks, unless the owner signed a closed list; else the asset is one that the owner signed.
 */
export const mayBuy = ({ policy: { guard, tokens } }: Permission, assetId: AssetId): boolean => {
  const address: Address = addressOf(assetId)
  const listed: ReadonlyArray<Address> = guard === undefined ? tokens : (guard.closedTokens ?? [address])
  return listed.includes(address)
}

/** What is signed of the guard beside its time; a limit of zero stands for the guard's own. */
export interface GuardTerms {
  readonly tradeBps: number
  readonly budgetBps: number
  /** The only assets that the agent may buy; left out: those that the guard knows. */
  readonly closedList?: readonly [AssetId, ...ReadonlyArray<AssetId>]
}

/** The terms that the owner signed; undefined where there is no guard. */
export const termsOf = ({ chainId, policy: { guard } }: Permission): GuardTerms | undefined => {
  if (guard === undefined) return undefined
  const { budgetBps, closedTokens, tradeBps } = guard
  if (closedTokens === undefined) return { tradeBps, budgetBps }
  const [first, ...others] = closedTokens
  return {
    tradeBps,
    budgetBps,
    closedList: [assetAt(chainId, first), ...others.map((token) => assetAt(chainId, token))]
  }
}

/** Whether all that the agent does goes through the trade guard; else the permission itself lists what it may do. */
export const isGuarded = ({ policy: { guard } }: Permission): boolean => guard !== undefined

/** The asset by which value leaves the chain; undefined where nothing may leave. */
export const carrierOf = ({ chainId, policy: { bridge } }: Permission): AssetId | undefined =>
  bridge && assetAt(chainId, bridge.token)

/** What takes value that leaves as an asset of another chain; undefined where that is not authorized. */
export const wayTo = ({ policy: { bridge } }: Permission, buy: AssetId): Address | undefined => {
  const [chainId, address] = [chainIdOf(buy), addressOf(buy)]
  return bridge?.destinations.some((to) => to.chainId === chainId && to.token === address) ? bridge.contract : undefined
}

/** Tokens through which a swap may pass on its way. */
export const hubsOf = ({ policy: { hubs } }: Permission): ReadonlyArray<Address> => hubs

/** What swaps over a provider's routes; undefined where the venue makes every swap. */
export const routeCarrierOf = ({ policy: { routedSwap } }: Permission): Address | undefined => routedSwap

/** Tokens that the permission names. */
export const namedTokens = ({ policy: { bridge, hubs, tokens } }: Permission): ReadonlyArray<Address> => [
  ...tokens,
  ...hubs,
  ...(bridge === undefined ? [] : [bridge.token])
]

/** What the permission lets the agent call: nobody's accounts, so nothing that is sent there comes back. */
export const namedContracts = ({ policy: { bridge, routedSwap, router } }: Permission): ReadonlyArray<Address> =>
  [router, routedSwap, bridge?.contract].filter((address) => address !== undefined)
