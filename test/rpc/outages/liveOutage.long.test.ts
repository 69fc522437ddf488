/**
 * Procedures over both wires while a PostgreSQL server only reads, takes no connection or is gone, and from the moment
 * on that it does its work again: what is refused until then, and that nothing is after it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { Unavailable } from "#domain/errors/Errors.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { makeProcedures } from "#rpc/client.ts"
import { postgresServer } from "#test/fault/support/PostgresServer.ts"
import { assertError, makeSignInApi, session, SignInApi } from "#test/rpc/support/SignInApi.ts"
import { storesOn } from "#test/support/database.ts"

const { retryAfterSeconds } = Unavailable.contract
const newKey = { name: "server", scopes: [] }
/** Calls, several times as many as a pool has sessions. */
const calls = 20

const migrated = (url: string) =>
  Migrations.layer.pipe(
    Layer.provide(Database.layer),
    Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections: 2 })),
    Layer.build,
    Effect.scoped
  )

/** What a call came to: "done", or the name of its error. */
const endOf = <A>(call: Effect.Effect<A, unknown, never>) =>
  Effect.match(call, {
    onSuccess: () => "done",
    onFailure: (error) => (error as { readonly _tag: string })._tag
  })

describe("a PostgreSQL server behind procedures", () => {
  if (postgresServer === undefined) {
    it.skip("skipped because initdb, postgres and pg_basebackup are not installed", () => {})
    return
  }
  const newServer = postgresServer

  const world = Effect.gen(function* () {
    const server = yield* newServer
    yield* migrated(server.url)
    const context = yield* Layer.build(Layer.fresh(makeSignInApi(undefined, undefined, storesOn(server.url))))
    const api = Context.get(context, SignInApi)
    const { token } = yield* Effect.provide(session(), context)
    const fetch = Object.assign((input: RequestInfo | URL, init?: RequestInit) => api.handle(new Request(input, init)))
    const native = yield* makeProcedures({ baseUrl: "http://api.test", token: Redacted.make(token) }).pipe(
      Effect.provideService(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch)
    )
    const read = api.as(token, "identity.session")
    const write = api.as(token, "apiKeys.create", newKey)
    const overRpc = {
      read: endOf(Effect.provideService(native("identity.session", undefined), FetchHttpClient.Fetch, fetch as any)),
      write: endOf(Effect.provideService(native("apiKeys.create", newKey), FetchHttpClient.Fetch, fetch as any))
    }
    const admin = Context.get(yield* Layer.build(Layer.fresh(databaseLayer(server.url))), SqlClient.SqlClient)
    const cut = admin`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
    /** One more call than the pool has sessions, all at once, on each wire. */
    const busy = Effect.all(
      Array.from({ length: 6 }, () => [read, write, overRpc.read, overRpc.write]).flat() as ReadonlyArray<
        Effect.Effect<unknown>
      >,
      { concurrency: "unbounded", discard: true }
    )
    yield* busy
    return { admin, busy, cut, overRpc, read, server, write }
  })
  type World = Effect.Success<typeof world>

  const refused = ({ overRpc, write }: World) =>
    Effect.gen(function* () {
      const answer = yield* write
      assertError(answer, Unavailable)
      assert.strictEqual(answer.headers.get("retry-after"), String(retryAfterSeconds))
      assert.strictEqual(yield* overRpc.write, "Unavailable")
    })

  /** How many calls are refused that are made from now on. */
  const refusals = ({ overRpc, read, write }: World) =>
    Effect.gen(function* () {
      let sum = 0
      for (let asked = 0; asked < calls; asked++) {
        for (const call of [write, read]) if ((yield* call).status !== 200) sum++
        for (const call of [overRpc.write, overRpc.read]) if ((yield* call) !== "done") sum++
      }
      return sum
    })

  const setReadOnly = ({ admin }: World, value: "on" | "off") =>
    admin
      .unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      .pipe(Effect.andThen(admin`SELECT pg_reload_conf()`), Effect.andThen(admin`SELECT pg_sleep(0.2)`))

  it.live("that comes to only read under open sessions", () =>
    Effect.gen(function* () {
      const all = yield* world
      yield* setReadOnly(all, "on")
      for (let asked = 0; asked < calls; asked++) yield* refused(all)
      yield* all.busy
      yield* setReadOnly(all, "off")
      assert.strictEqual(yield* refusals(all), 0)
    }).pipe(Effect.scoped)
  )

  it.live("that only reads after its sessions were cut", () =>
    Effect.gen(function* () {
      const all = yield* world
      const alter = (what: string) => all.admin.unsafe(`ALTER ROLE postgres ${what}`)
      yield* alter("SET default_transaction_read_only = on")
      yield* all.cut
      for (let asked = 0; asked < calls; asked++) yield* refused(all)
      yield* all.busy
      yield* alter("RESET default_transaction_read_only")
      assert.strictEqual(yield* refusals(all), 0)
    }).pipe(Effect.scoped)
  )

  it.live("that is gone, and comes back", () =>
    Effect.gen(function* () {
      const all = yield* world
      yield* all.server.crash
      for (let asked = 0; asked < calls; asked++) yield* refused(all)
      yield* all.busy
      yield* all.server.start
      assert.strictEqual(yield* refusals(all), 0)
    }).pipe(Effect.scoped)
  )
})
