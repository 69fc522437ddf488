/**
 * What the agent's key may do on one account, read from its chain at one block, with the calls that read
 * the same without this service. Source: docs/decisions/0117-proof-of-the-policy.md.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ChainId, AccountId, EvmAddress } from "#domain/values/Caip.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** `guard`: trades are held against reference prices on the chain; `call_policy`: bounded in where they go alone. */
export type PolicyKind = "guard" | "call_policy"

/**
 * `unused`: never on the chain, and the owner's signature can still put it there; `active`: the agent acts by it;
 * `expired`: its time is over; `ended`: revoked, removed or replaced, and it never comes back.
 */
export type PermissionState = "unused" | "active" | "expired" | "ended"

/** One permission that the owner signed. */
export interface PermissionReading {
  readonly permissionId: PermissionId
  readonly kind: PolicyKind
  readonly state: PermissionState
  /** The key that acts by it: what the chain has, or what was signed where the chain has none. */
  readonly agent: EvmAddress
  /** Null without a time limit. */
  readonly validUntil: DateTime.Utc | null
}

/** A call that a live permission lets pass; none sends native money. */
export interface AllowedCall {
  /** The permission that lets it pass. */
  readonly permissionId: PermissionId
  /** Null: any token. */
  readonly target: EvmAddress | null
  /** Canonical signature; its first four bytes of Keccak-256 are the selector. */
  readonly function: string
  /** What is demanded of the arguments, and by which contract. */
  readonly rule: string
}

/** The guard's own view of the account. */
export interface GuardReading {
  readonly contract: EvmAddress
  /** Grows with every change of tokens, venues or keys. */
  readonly registryVersion: number
  readonly isPaused: boolean
  readonly administrator: EvmAddress
  readonly guardian: EvmAddress
  readonly attestor: EvmAddress
  /** Most that one trade, and all trades of a week, may lose against reference prices, in basis points. */
  readonly tradeBps: number
  readonly budgetBps: number
  /** What is left of both meters, in billionths of the account. */
  readonly lossLeft: bigint
  readonly turnoverLeft: bigint
  /** Merkle root of the only tokens that may be bought; null: those of the registry. */
  readonly closedRoot: string | null
}

/** An `eth_call` at the reading's block. */
export interface PolicyCheck {
  readonly reads: string
  readonly to: EvmAddress
  readonly data: string
}

export interface ChainPolicy {
  readonly chainId: ChainId
  readonly accountId: AccountId
  readonly blockNumber: bigint
  readonly blockTime: DateTime.Utc
  readonly isDeployed: boolean
  /** Latest first. */
  readonly permissions: ReadonlyArray<PermissionReading>
  /** Calls of all permissions that are active, or can be put on the chain. */
  readonly allowed: ReadonlyArray<AllowedCall>
  /** Null when no permission names one. */
  readonly guard: GuardReading | null
  readonly checks: ReadonlyArray<PolicyCheck>
}

/**
 * What the agent's key may do on one account, as its chain enforces it.
 *
 * **When to use**
 *
 * Use in `Policies`, which reads every account of a portfolio.
 */
export class PolicyReader extends Context.Service<
  PolicyReader,
  {
    /** Reads what the owner's grants allow on a chain; one of them at least names it. */
    readonly read: (grants: ReadonlyArray<Grant>, chainId: ChainId) => Effect.Effect<ChainPolicy, ChainUnavailable>
  }
>()("ballast/domain/policy/PolicyReader") {}
