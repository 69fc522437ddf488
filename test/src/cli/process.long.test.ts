/** The command line as operators run it: a process, its environment, what it prints and how it ends. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { copyOfTemplate, emptyServerDatabase, newServerDatabase } from "#test/support/database.ts"
import { runCli } from "#test/src/cli/support/runCli.ts"

const API_KEY_PEPPER = "p".repeat(64)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-operator-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Each command that works on a database. */
const commands = [
  ["tenants", "list"],
  ["tenants", "create", "--name", "Acme", "--email", "ops@acme.example"],
  ["tenants", "disable", "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["tenants", "enable", "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["keys", "create", "--tenant", "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["keys", "list", "--tenant", "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["keys", "rotate", "--tenant", "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV", "key_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["keys", "revoke", "--tenant", "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV", "key_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["runs", "list"],
  ["runs", "show", "op_1"],
  ["runs", "resume", "op_1"],
  ["runs", "cancel", "op_1"]
]

describe("npm run cli", () => {
  it.live("no command makes a database where there is none: each says where it searched and what to set", () =>
    Effect.gen(function* () {
      const at = yield* folder
      const ended = yield* Effect.forEach(commands, (args) => runCli(args, { API_KEY_PEPPER }, at), {
        concurrency: 2
      })
      for (const [index, { code, err, out }] of ended.entries()) {
        const which = commands[index]!.join(" ")
        assert.strictEqual(code, 1, which)
        assert.strictEqual(out, "", which)
        assert.include(err, `There is no database in DATA_DIR, ${join(at, ".data/service")}`, which)
        assert.include(err, "Set DATABASE_URL, or DATA_DIR, as the service has it", which)
      }
      assert.deepStrictEqual(readdirSync(at), [])
    }).pipe(Effect.scoped)
  )

  it.live("a key is made, listed and rotated on the service's database, by processes that each end with 0", () =>
    Effect.gen(function* () {
      const dataDir = yield* copyOfTemplate
      const env = { API_KEY_PEPPER, DATA_DIR: dataDir }
      const json = (args: ReadonlyArray<string>) =>
        Effect.map(runCli([...args, "--json"], env, dataDir), ({ code, err, out }) => {
          assert.strictEqual(code, 0, `${args.join(" ")}: ${err}`)
          return JSON.parse(out)
        })
      const { tenantId } = yield* json(["tenants", "create", "--name", "Acme", "--email", "ops@acme.example"])
      const key = yield* json(["keys", "create", "--tenant", tenantId])
      const next = yield* json(["keys", "rotate", "--tenant", tenantId, key.apiKeyId, "--overlap-hours", "1"])
      assert.match(next.secret, /^bk_live_/u)
      assert.strictEqual(next.replaces.apiKeyId, key.apiKeyId)
      const listed = yield* runCli(["keys", "list", "--tenant", tenantId], env, dataDir)
      assert.match(listed.out, new RegExp(`${key.apiKeyId} .* never .* live +${next.apiKeyId}`, "u"))
      const again = yield* runCli(["keys", "rotate", "--tenant", tenantId, key.apiKeyId], env, dataDir)
      assert.strictEqual(again.code, 1)
      assert.include(again.err, `was rotated into ${next.apiKeyId} already`)
    }).pipe(Effect.scoped)
  )

  if (newServerDatabase === undefined || emptyServerDatabase === undefined) {
    it.skip("databases of a server: skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const [own, empty] = [newServerDatabase, emptyServerDatabase]

  /** Runs SQL on a database, as somebody else. */
  const on = <A>(url: string, work: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
    Effect.flatMap(SqlClient.SqlClient, work).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
      Effect.orDie
    )
  const tables = (url: string) =>
    on(url, (sql) => sql<{ tablename: string }>`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)

  it.live("a database that is not the service's is reported as such, and stays as it was", () =>
    Effect.gen(function* () {
      const at = yield* folder
      const url = yield* empty
      const env = { API_KEY_PEPPER, DATABASE_URL: url }
      const onEmpty = yield* runCli(["tenants", "create", "--name", "A", "--email", "a@b.example"], env, at)
      assert.strictEqual(onEmpty.code, 1)
      assert.include(onEmpty.err, "There is no service's data in the database of DATABASE_URL: it is empty")
      assert.notInclude(onEmpty.err, new URL(url).pathname, "no part of the URL")
      assert.deepStrictEqual(yield* tables(url), [])
      yield* on(url, (sql) => sql`CREATE TABLE customers (id int)`)
      const foreign = yield* runCli(["tenants", "list"], env, at)
      assert.strictEqual(foreign.code, 1)
      assert.include(foreign.err, "its 1 tables are not the service's")
      assert.deepStrictEqual(yield* tables(url), [{ tablename: "customers" }])
      assert.isFalse(existsSync(join(at, ".data")))
    }).pipe(Effect.scoped)
  )

  it.live(
    "a database of another release is reported as such and not migrated, and a pepper that is not the service's makes no key",
    () =>
      Effect.gen(function* () {
        const at = yield* folder
        const url = yield* own
        const env = { API_KEY_PEPPER, DATABASE_URL: url }
        yield* on(url, (sql) => sql`INSERT INTO schema_migrations (migration_id, name) VALUES (9001, 'of_tomorrow')`)
        const ahead = yield* runCli(["tenants", "list"], env, at)
        assert.include(ahead.err, "A later release has migrated the database of DATABASE_URL: 9001_of_tomorrow")
        yield* on(url, (sql) => sql`DELETE FROM schema_migrations WHERE migration_id >= 20`)
        const behind = yield* runCli(["tenants", "list"], env, at)
        assert.include(behind.err, "is that of an earlier release: 0020_monitor")
        assert.deepStrictEqual([ahead.code, behind.code], [1, 1])
        const left = yield* on(url, (sql) => sql`SELECT 1 FROM schema_migrations WHERE migration_id >= 20`)
        assert.lengthOf(left, 0, "nothing was migrated")

        const other = yield* own
        yield* on(other, (sql) => sql`INSERT INTO peppers (pepper, noted_at) VALUES ('of-the-service', now())`)
        const there = { API_KEY_PEPPER, DATABASE_URL: other }
        const made = yield* runCli(["tenants", "create", "--name", "A", "--email", "a@b.example", "--json"], there, at)
        const { tenantId } = JSON.parse(made.out)
        const refused = yield* runCli(["keys", "create", "--tenant", tenantId], there, at)
        assert.strictEqual(refused.code, 1)
        assert.include(refused.err, "API_KEY_PEPPER is not the one that the service of this database was started with")
      }).pipe(Effect.scoped)
  )
})
