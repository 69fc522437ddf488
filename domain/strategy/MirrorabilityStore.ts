/**
 * Port: where the operator's switch for mirroring is kept.
 *
 * Each change is one unit: the strategies, and what discovery lists of them. It changes nothing when either cannot be
 * written, or when a strategy of it has a head version that does not exist.
 */
import { Context, type Effect, type Option } from "effect"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"

/** Who may be enrolled into a strategy beside its creator's users. */
export type Mirrored = Pick<Strategy, "canMirror" | "isPublic">

/** Left out, `isPublic` becomes true with `canMirror` and stays as it is otherwise. */
export type MirrorabilityChange = Pick<Strategy, "canMirror"> & { readonly isPublic?: boolean }

/** A strategy by its id, or by the number that the database gave it. */
export type BlueprintKey =
  | { readonly kind: "id"; readonly strategyId: string }
  | { readonly kind: "number"; readonly number: bigint }

/** One strategy after the change. */
export interface MirroredBlueprint extends Mirrored {
  readonly blueprintId: StrategyId
}

/** What a change of all strategies of an owner did. Ids are in the order of creation, which is theirs. */
export interface OwnedChange {
  readonly ownedCount: number
  readonly skippedPrivateCount: number
  readonly alreadySet: ReadonlyArray<StrategyId>
  readonly updated: ReadonlyArray<StrategyId>
}

/** Strategies whose head version does not exist; nothing was changed. */
export interface BrokenHeads {
  readonly brokenHeads: readonly [StrategyId, ...ReadonlyArray<StrategyId>]
}

/**
 * Where the switch for mirroring is kept.
 *
 * **When to use**
 *
 * Use in `Mirrorability` alone.
 */
export class MirrorabilityStore extends Context.Service<
  MirrorabilityStore,
  {
    /** Changes a strategy of any tenant; none when there is none. */
    readonly set: (
      key: BlueprintKey,
      change: MirrorabilityChange
    ) => Effect.Effect<Option.Option<MirroredBlueprint>, BrokenHeads>
    /** Changes every public strategy of the tenants that the address owns; private ones are counted and left alone. */
    readonly setOwned: (owner: OwnerAddress, change: MirrorabilityChange) => Effect.Effect<OwnedChange, BrokenHeads>
    /** The strategy that a portfolio follows, and whether another tenant created it. */
    readonly followedBy: (
      portfolioId: string
    ) => Effect.Effect<Option.Option<{ readonly strategyId: StrategyId; readonly isMirrored: boolean }>>
  }
>()("ballast/domain/strategy/MirrorabilityStore") {}
