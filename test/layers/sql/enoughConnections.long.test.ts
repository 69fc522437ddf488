/** How many connections a start asks for, on a server that counts them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { enoughConnections } from "#layers/sql/enoughConnections.ts"
import { sqlStateOf } from "#layers/sql/isDatabaseFault.ts"
import { limitedRole } from "#test/fault/support/limitedRole.ts"

describe("connections of a start", () => {
  if (limitedRole === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newRole = limitedRole

  it.live("are those of the pool and four more, and gone when it goes on", () =>
    Effect.gen(function* () {
      const { setLimit, url } = yield* newRole
      const asked = Effect.provideService(enoughConnections, DatabaseConfig, {
        url: Redacted.make(url.href),
        dataDir: "",
        maxConnections: 3
      })
      yield* setLimit(6)
      assert.strictEqual(sqlStateOf(yield* Effect.flip(asked)), "53300")
      yield* setLimit(7)
      // Each needs all that the role may have: sessions of the one before are over.
      for (let again = 0; again < 5; again++) yield* asked
    }).pipe(Effect.scoped)
  )

  it.live("are none of the embedded database", () =>
    Effect.provideService(enoughConnections, DatabaseConfig, { url: null, dataDir: "", maxConnections: 1 })
  )
})
