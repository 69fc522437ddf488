/** The operator's selection of public strategies, in editorial order. */
import { Context, Effect, Layer } from "effect"
import { DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import type { StrategyId } from "#domain/values/Ids.ts"

/** Most strategies that can be selected. */
export const maxSelected = 500

/**
 * The operator's selection of public strategies.
 *
 * **When to use**
 *
 * Use in the admin's routes. Integrators see the selection through `Discovery`.
 */
export class Curation extends Context.Service<
  Curation,
  {
    /** The selection as it was made; one that has become private since is kept, and not shown. */
    readonly selection: Effect.Effect<ReadonlyArray<StrategyId>>
    /** Replaces the selection; each strategy must be public and mirrorable, and named once. */
    readonly select: (strategyIds: ReadonlyArray<StrategyId>) => Effect.Effect<void, ValidationFailed>
  }
>()("ballast/domain/discovery/Curation") {
  static readonly layer = Layer.effect(
    Curation,
    Effect.gen(function* () {
      const store = yield* DiscoveryStore

      const refuse = (details: ReadonlyArray<string>) =>
        new ValidationFailed({ message: "The selection is not valid; nothing was changed", details })

      const select = Effect.fn("Curation.select")(function* (strategyIds: ReadonlyArray<StrategyId>) {
        const repeated = strategyIds.flatMap((id, index) =>
          strategyIds.indexOf(id) < index ? [`strategyIds.${index}: ${id} is named twice`] : []
        )
        if (repeated.length > 0) return yield* refuse(repeated)
        const unlisted = new Set(yield* store.select(strategyIds))
        const details = strategyIds.flatMap((id, index) =>
          unlisted.has(id) ? [`strategyIds.${index}: ${id} is not a public strategy that can be mirrored`] : []
        )
        if (details.length > 0) return yield* refuse(details)
      })

      return Curation.of({ selection: store.selection, select })
    })
  )
}
