/**
 * A database that is away, as clients see it: requests are answered 503 with the time to come back, and the next ones
 * succeed as soon as the database does its work again.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Unavailable } from "#domain/errors/Errors.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { fillCatalogue, newTenant } from "#test/api/support/actors.ts"
import { Api, apiOn } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { emptyServerDatabase, newServerDatabase, storesOn } from "#test/support/database.ts"

const body = {
  name: "Once",
  allocation: { assets: [{ assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", weight: "100" }] },
  schedule: { type: "interval", frequency: "daily" }
}

describe("a database that is away", () => {
  if (newServerDatabase === undefined || emptyServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase
  const otherDatabase = emptyServerDatabase

  /** An API on a database, and whoever administers the server from another one. */
  const world = Effect.gen(function* () {
    const url = yield* newDatabase
    const name = new URL(url).pathname.slice(1)
    const admin = Context.get(yield* Layer.build(Layer.fresh(databaseLayer(yield* otherDatabase))), SqlClient.SqlClient)
    const api = yield* Layer.build(Layer.fresh(apiOn(storesOn(url))))
    const { key } = yield* Effect.provide(Effect.andThen(fillCatalogue, newTenant()), api)
    const post = Effect.provide(
      Effect.flatMap(Api, ({ call }) => call("POST", "/v2/strategies", { key, body })),
      api
    )
    const cut = admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
    const alter = (what: string) => admin.unsafe(`ALTER DATABASE ${name} ${what}`)
    assert.strictEqual((yield* post).status, 201)
    return { admin, alter, api, cut, post }
  })

  const refused = (post: Effect.Success<typeof world>["post"]) =>
    Effect.map(post, (answer) => {
      assertError(answer, Unavailable)
      assert.strictEqual(answer.headers.get("retry-after"), "2")
    })

  it.live("because it only reads", () =>
    Effect.gen(function* () {
      const { alter, cut, post } = yield* world
      yield* alter("SET default_transaction_read_only = on")
      yield* cut
      for (let asked = 0; asked < 10; asked++) yield* refused(post)
      yield* alter("RESET default_transaction_read_only")
      for (let asked = 0; asked < 10; asked++) assert.strictEqual((yield* post).status, 201)
    }).pipe(Effect.scoped)
  )

  it.live("because it takes no connection", () =>
    Effect.gen(function* () {
      const { alter, cut, post } = yield* world
      yield* alter("ALLOW_CONNECTIONS false")
      yield* cut
      for (let asked = 0; asked < 10; asked++) yield* refused(post)
      yield* alter("ALLOW_CONNECTIONS true")
      for (let asked = 0; asked < 10; asked++) assert.strictEqual((yield* post).status, 201)
    }).pipe(Effect.scoped)
  )

  it.live("because a table is locked for long", () =>
    Effect.gen(function* () {
      const { api, post } = yield* world
      const sql = Context.get(api as Context.Context<SqlClient.SqlClient>, SqlClient.SqlClient)
      const locked = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      const holder = yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`.pipe(
        Effect.andThen(sql`LOCK TABLE strategies`),
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(end)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      yield* refused(post)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(holder)
      assert.strictEqual((yield* post).status, 201)
    }).pipe(Effect.scoped)
  )
})
