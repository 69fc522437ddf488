/**
 * Brings the checked-in catalogue into the database, once, when it is built. A content that is there already costs one
 * read.
 */
import { Effect, Layer } from "effect"
import { content } from "#layers/catalogue/content.ts"
import { CatalogueStore } from "#layers/sql/asset/CatalogueStore.ts"

export const LoadCatalogue = Layer.effectDiscard(
  Effect.gen(function* () {
    const isNew = yield* (yield* CatalogueStore).load(content)
    if (isNew) {
      yield* Effect.logInfo("The catalogue has new content", {
        assets: content.assets.length,
        representations: content.representations.length
      })
    }
    // Traces know it by the name that this layer had.
  }).pipe(Effect.withSpan("CatalogueLive.load"))
)
