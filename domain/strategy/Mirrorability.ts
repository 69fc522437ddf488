/** The operator's switch for who may be enrolled into a strategy. Source: interface "Internal admin routes". */
import { Context, Effect, Layer, Option } from "effect"
import { Internal, NotFound, PermissionDenied, PortfolioNotFound } from "#domain/errors/Errors.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import {
  type BlueprintKey,
  type BrokenHeads,
  type MirrorabilityChange,
  MirrorabilityStore,
  type MirroredBlueprint,
  type OwnedChange
} from "#domain/strategy/MirrorabilityStore.ts"
import { OperatorAccount } from "#domain/strategy/OperatorAccount.ts"

/** What a change of all strategies of an owner did, and whose and what it was. */
export interface OwnerMirrored extends OwnedChange {
  readonly ownerAddress: OwnerAddress
  readonly canMirror: boolean
  /** Value that every eligible strategy has now. */
  readonly isPublic: boolean
}

/** The number that a database gave a strategy; a template id has 26 characters. */
const numberPattern = /^[1-9][0-9]{0,17}$/u

const keyOf = (blueprintId: string): BlueprintKey =>
  numberPattern.test(blueprintId)
    ? { kind: "number", number: BigInt(blueprintId) }
    : { kind: "id", strategyId: blueprintId }

const refuseHeads = ({ brokenHeads }: BrokenHeads) =>
  new Internal({
    message: `Nothing was changed: the head version of ${brokenHeads.length} strategies does not exist; publish a version of each, then repeat`,
    details: brokenHeads.slice(0, 50).map((strategyId) => `${strategyId}: its head version does not exist`)
  })

/**
 * The operator's switch for mirroring.
 *
 * **When to use**
 *
 * Use in admin routes. Creators make a strategy public by `Strategies.update`.
 */
export class Mirrorability extends Context.Service<
  Mirrorability,
  {
    /**
     * Lets users of other tenants be enrolled into a strategy, or no longer; portfolios that follow it go on. Answers
     * what holds now. Without `isPublic`, enabling makes the strategy public and disabling leaves that as it is.
     */
    readonly set: (
      blueprintId: string,
      change: MirrorabilityChange
    ) => Effect.Effect<MirroredBlueprint, NotFound | Internal>
    /** Changes the strategy that a portfolio of its creator follows. */
    readonly setOfPortfolio: (
      portfolioId: string,
      change: MirrorabilityChange
    ) => Effect.Effect<MirroredBlueprint, PortfolioNotFound | PermissionDenied | NotFound | Internal>
    /** Changes every public strategy of the owner, all or none. */
    readonly setOfOwner: (
      ownerAddress: OwnerAddress,
      change: MirrorabilityChange
    ) => Effect.Effect<OwnerMirrored, Internal>
    /** Changes every public strategy of the operator's own account, all or none. */
    readonly setOfOperator: (change: MirrorabilityChange) => Effect.Effect<OwnerMirrored, NotFound | Internal>
  }
>()("ballast/domain/strategy/Mirrorability") {
  static readonly layer = Layer.effect(
    Mirrorability,
    Effect.gen(function* () {
      const store = yield* MirrorabilityStore
      const { address } = yield* OperatorAccount

      const setOne = Effect.fnUntraced(function* (key: BlueprintKey, named: string, change: MirrorabilityChange) {
        const set = yield* Effect.mapError(store.set(key, change), refuseHeads)
        if (Option.isNone(set)) return yield* new NotFound({ message: `There is no strategy ${named}` })
        yield* Effect.annotateLogs(Effect.logInfo("A strategy's mirrorability was set"), { ...set.value })
        return set.value
      })

      const set = Effect.fn("Mirrorability.set")((blueprintId: string, change: MirrorabilityChange) =>
        setOne(keyOf(blueprintId), blueprintId, change)
      )

      const setOfPortfolio = Effect.fn("Mirrorability.setOfPortfolio")(function* (
        portfolioId: string,
        change: MirrorabilityChange
      ) {
        const followed = yield* store.followedBy(portfolioId)
        if (Option.isNone(followed))
          return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId}` })
        const { isMirrored, strategyId } = followed.value
        if (isMirrored)
          return yield* new PermissionDenied({
            message: `Portfolio ${portfolioId} mirrors another tenant's strategy; name that strategy, or a portfolio of its creator`
          })
        return yield* setOne({ kind: "id", strategyId }, strategyId, change)
      })

      const setOfOwner = Effect.fn("Mirrorability.setOfOwner")(function* (
        ownerAddress: OwnerAddress,
        change: MirrorabilityChange
      ) {
        const owned = yield* Effect.mapError(store.setOwned(ownerAddress, change), refuseHeads)
        const { canMirror, isPublic = true } = change
        const { alreadySet, ownedCount, skippedPrivateCount, updated } = owned
        yield* Effect.annotateLogs(Effect.logInfo("The mirrorability of an owner's strategies was set"), {
          ownerAddress,
          canMirror,
          isPublic,
          ownedCount,
          skippedPrivateCount,
          alreadySetCount: alreadySet.length,
          updated: shownIds(updated)
        })
        return { ...owned, ownerAddress, canMirror, isPublic }
      })

      const setOfOperator = (change: MirrorabilityChange) =>
        address === null
          ? Effect.fail(
              new NotFound({ message: "This deployment has no account of its own: set OPERATOR_ADDRESS to name it" })
            )
          : setOfOwner(address, change)

      return Mirrorability.of({ set, setOfPortfolio, setOfOwner, setOfOperator })
    })
  )
}

/** One line of the log names this many strategies at most. */
const maxShown = 200

const shownIds = (ids: ReadonlyArray<StrategyId>): string =>
  ids.length > maxShown ? `${ids.slice(0, maxShown).join(" ")} and ${ids.length - maxShown} more` : ids.join(" ")
