/** The operator's switch for who may be enrolled into a strategy. Source: interface "Internal admin routes". */
import { Context, Effect, Layer, Option } from "effect"
import { NotFound } from "#domain/Errors.ts"
import type { StrategyId } from "#domain/Ids.ts"
import {
  type Mirrorability as Mirrored,
  type MirrorabilityChange,
  StrategyStore
} from "#domain/strategy/StrategyStore.ts"

export class Mirrorability extends Context.Service<
  Mirrorability,
  {
    /**
     * Lets users of other tenants be enrolled, or no longer; portfolios that follow the strategy go on. Answers what holds
     * now. Without `isPublic`, enabling makes the strategy public and disabling leaves that as it is.
     */
    readonly set: (strategyId: StrategyId, change: MirrorabilityChange) => Effect.Effect<Mirrored, NotFound>
  }
>()("ballast/domain/strategy/Mirrorability") {
  static readonly layer = Layer.effect(
    Mirrorability,
    Effect.map(StrategyStore, (store) =>
      Mirrorability.of({
        set: Effect.fn("Mirrorability.set")(function* (strategyId: StrategyId, change: MirrorabilityChange) {
          const set = yield* store.setMirrorable(strategyId, change)
          if (Option.isSome(set)) return set.value
          return yield* new NotFound({ message: `There is no strategy ${strategyId}` })
        })
      })
    )
  )
}
