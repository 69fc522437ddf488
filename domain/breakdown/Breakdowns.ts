/**
 * Breaks holdings down by their entries in the catalogue. Source: interface "POST /v2/assets/allocation-breakdown".
 */
import { Context, Effect, Layer } from "effect"
import { Catalogue } from "#domain/asset/Catalogue.ts"
import type { Breakdown, BreakdownRequest } from "#domain/breakdown/Breakdown.ts"
import { breakDownBy } from "#domain/breakdown/breakDownBy.ts"
import { describeHoldings } from "#domain/breakdown/describeHoldings.ts"
import { sourceTotal } from "#domain/breakdown/normalizeWeights.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import type { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"

/**
 * Holdings by their entries in the catalogue.
 *
 * **When to use**
 *
 * Use in the route that breaks an allocation down. It needs no caller: it reads the catalogue alone.
 */
export class Breakdowns extends Context.Service<
  Breakdowns,
  {
    /** Fails when all weights are zero, for then there are no proportions. */
    readonly breakDown: (request: BreakdownRequest) => Effect.Effect<Breakdown, ValidationFailed>
  }
>()("ballast/domain/breakdown/Breakdowns") {
  static readonly layer = Layer.effect(
    Breakdowns,
    Effect.gen(function* () {
      const catalogue = yield* Catalogue

      const breakDown = Effect.fn("Breakdowns.breakDown")(function* (request: BreakdownRequest) {
        const total = sourceTotal(request.holdings)
        if (total === 0n) {
          return yield* new ValidationFailed({
            message: "The holdings have no weight; give at least one of them a weight other than zero",
            details: ["holdings: the absolute weights sum to 0"]
          })
        }
        const known = yield* catalogue.resolve({
          canonical: request.holdings.flatMap(({ assetCanonicalId }) => assetCanonicalId ?? []),
          represented: request.holdings.flatMap(({ caipAssetId }) => caipAssetId ?? [])
        })
        const { holdings, resolved, unresolved } = describeHoldings(request.holdings, known)

        const subjects = new Set(resolved.map(({ subject }) => subject.assetCanonicalId))
        const classifications = yield* catalogue.classifications([...subjects], request.dimensions)
        const keyOf = (assetCanonicalId: AssetCanonicalId, dimension: string) => `${assetCanonicalId} ${dimension}`
        const byKey = Map.groupBy(classifications, (each) => keyOf(each.assetCanonicalId, each.dimension))

        const dimensions = request.dimensions.map((dimension) =>
          breakDownBy(
            dimension,
            request.mode,
            resolved.map(({ holding, subject }) => ({
              holding,
              kind: subject.kind,
              classifications: byKey.get(keyOf(subject.assetCanonicalId, dimension)) ?? []
            }))
          )
        )
        return {
          mode: request.mode,
          sourceTotal: total,
          holdings,
          dimensions,
          diagnostics: {
            unresolved,
            unsupported: dimensions.flatMap(({ unsupported }) => unsupported),
            unclassified: dimensions.flatMap(({ unclassified }) => unclassified),
            lowConfidence: dimensions.flatMap(({ lowConfidence }) => lowConfidence)
          }
        }
      })

      return Breakdowns.of({ breakDown })
    })
  )
}
