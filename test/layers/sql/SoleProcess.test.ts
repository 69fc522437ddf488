/** Of two processes on one PostgreSQL server the second works only after the first has ended. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import * as SoleProcess from "#layers/sql/SoleProcess.ts"
import { ServerDatabase, TestDatabase } from "#test/support/database.ts"

describe("SoleProcess", () => {
  it.live("leaves the embedded database to the lock of its folder", () =>
    Effect.scoped(Layer.build(SoleProcess.layer.pipe(Layer.provide(TestDatabase))))
  )

  if (ServerDatabase === undefined) {
    it.skip("on PostgreSQL: skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }

  const server = ServerDatabase

  it.live("waits for the process before it", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<SqlClient.SqlClient | DatabaseInfo>()
      const process = Layer.fresh(SoleProcess.layer).pipe(Layer.provide(Layer.succeedContext(context)))
      const first = yield* Scope.make()
      yield* Layer.buildWithScope(process, first)
      const second = yield* Effect.forkChild(Effect.scoped(Layer.build(process)))
      yield* Effect.sleep("700 millis")
      assert.isUndefined(second.pollUnsafe(), "the second one waits")
      yield* Scope.close(first, Exit.void)
      yield* Fiber.join(second).pipe(Effect.timeout("10 seconds"))
    }).pipe(Effect.provide(server))
  )
})
