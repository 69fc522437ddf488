/**
 * The agent's permission on a chain as rules read it, whatever the family of the chain: what it may buy, what may
 * leave, on which terms. What enforces it there (routers, guards, contracts of bridges) is for the family's adapter.
 */
import { type Address, addressOf, assetAt, type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import type { AgentPolicy, ChainAuthorization } from "#domain/account/Authorization.ts"

/** A permission on one chain. */
type Permission = Pick<ChainAuthorization, "chainId" | "policy">

/** What of a permission the chain itself enforces: a role on Solana has no limits there but its sub-account. */
const limitsOf = ({ policy }: Permission): Partial<AgentPolicy> => (policy._tag === "Solana" ? {} : policy)

/**
 * Whether the owner lets the agent buy an asset. Under the guard the chain's registry decides in the simulation, unless
 * the owner signed a closed list; else the asset is one that the owner signed. A role on Solana names none.
 */
export const mayBuy = (permission: Permission, assetId: AssetId): boolean => {
  const { guard, tokens } = limitsOf(permission)
  const address: Address = addressOf(assetId)
  const listed: ReadonlyArray<Address> = (guard === undefined ? tokens : guard.closedTokens) ?? [address]
  return listed.includes(address)
}

/** What is signed of the guard beside its time; a limit of zero stands for the guard's own. */
export interface GuardTerms {
  readonly tradeBps: number
  readonly budgetBps: number
  /** The only assets that the agent may buy; left out: those of the guard's registry. */
  readonly closedList?: readonly [AssetId, ...ReadonlyArray<AssetId>]
}

/** The terms that the owner signed; undefined where there is no guard. */
export const termsOf = (permission: Permission): GuardTerms | undefined => {
  const { chainId } = permission
  const { guard } = limitsOf(permission)
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
export const isGuarded = (permission: Permission): boolean => limitsOf(permission).guard !== undefined

/** The asset by which value leaves the chain; undefined where nothing may leave. */
export const permittedBridgeAsset = (permission: Permission): AssetId | undefined => {
  const { bridge } = limitsOf(permission)
  return bridge && assetAt(permission.chainId, bridge.token)
}

/** What takes value that leaves as an asset of another chain; undefined where that is not authorized. */
export const bridgeTo = (permission: Permission, buy: AssetId): Address | undefined => {
  const { bridge } = limitsOf(permission)
  const [chainId, address] = [chainIdOf(buy), addressOf(buy)]
  return bridge?.destinations.some((to) => to.chainId === chainId && to.token === address) ? bridge.contract : undefined
}

/** Tokens through which a swap may pass on its way. */
export const connectorTokensOf = (permission: Permission): ReadonlyArray<Address> =>
  limitsOf(permission).connectorTokens ?? []

/** What swaps over a provider's routes; undefined where the venue makes every swap. */
export const routedSwapOf = (permission: Permission): Address | undefined => limitsOf(permission).routedSwap

/**
 * The agent's role in the owner's wallet, which limits it to the account and to nothing else there; undefined where the
 * account itself has the permission.
 */
export const walletRoleOf = ({ policy }: Permission): number | undefined =>
  policy._tag === "Solana" ? policy.roleId : undefined

/** Tokens that the permission names. */
export const namedTokens = (permission: Permission): ReadonlyArray<Address> => {
  const { bridge, connectorTokens = [], tokens = [] } = limitsOf(permission)
  return [...tokens, ...connectorTokens, ...(bridge === undefined ? [] : [bridge.token])]
}

/** Contracts that the permission lets the agent call: no account, so what is sent there is lost. */
export const namedContracts = (permission: Permission): ReadonlyArray<Address> => {
  const { bridge, routedSwap, router } = limitsOf(permission)
  return [router, routedSwap, bridge?.contract].filter((address) => address !== undefined)
}
