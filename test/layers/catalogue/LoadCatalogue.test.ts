import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Catalogue } from "#domain/asset/Catalogue.ts"
import { LoadCatalogue } from "#layers/catalogue/LoadCatalogue.ts"
import { content } from "#layers/catalogue/content.ts"
import { TestStores } from "#test/support/database.ts"

layer(TestStores, { excludeTestServices: true })("LoadCatalogue", (it) => {
  it.effect("a start brings the content, and the next start leaves it alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const start = Effect.scoped(Layer.build(Layer.fresh(LoadCatalogue)))
      const versions = sql`SELECT xmin::text FROM canonical_assets`
      yield* start
      const first = yield* versions
      assert.strictEqual(first.length, content.assets.length)
      yield* start
      assert.deepStrictEqual(yield* versions, first)
      const ids = content.assets.map(({ assetCanonicalId }) => assetCanonicalId)
      const { canonical } = yield* (yield* Catalogue).resolve({ canonical: ids, represented: [] })
      assert.deepStrictEqual([...canonical.keys()].sort(), ids.toSorted())
    })
  )
})
