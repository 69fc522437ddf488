/**
 * A release is rolled back as in docs/operations.md: the code before the last migration, taken from the repository's
 * own history, goes on with the database that this release has migrated, beside processes of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { archiveOf, formerCommit } from "#test/deploy/support/formerCommit.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const repository = join(import.meta.dirname, "../..")
const former = formerCommit()

const key = (digit: string) => `0x${digit.repeat(64)}`
const base = "eip155:8453/erc20:0x"
const tokens = [
  ["833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USDC", 6],
  ["4200000000000000000000000000000000000006", "WETH", 18]
] as const
const adminToken = "a".repeat(64)

/** An API process of the code in a folder, until the scope closes. Its chain never answers. */
const api = (folder: string, databaseUrl: string, dataDir: string) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const port = yield* freePort
      const child = spawn(process.execPath, [join(folder, "src/Api.ts")], {
        cwd: dataDir,
        env: {
          PATH: process.env["PATH"],
          PORT: `${port}`,
          DATABASE_URL: databaseUrl,
          RPC_URL_8453: "http://127.0.0.1:9",
          UNISWAP_V2_ROUTER_8453: "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
          TOKEN_LISTS: join(dataDir, "tokens.json"),
          AGENT_PRIVATE_KEY: key("1"),
          RELAYER_PRIVATE_KEY: key("2"),
          API_KEY_PEPPER: "p".repeat(64),
          ADMIN_TOKEN: adminToken,
          INTERNAL_TOKEN: "i".repeat(64),
          LOG_LEVEL: "Warn"
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let log = ""
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (log += String(chunk)))
      const call = async (
        method: string,
        path: string,
        { body, headers }: { readonly headers: Record<string, string>; readonly body?: unknown | undefined }
      ) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        return { status: answer.status, body: (await answer.json()) as any }
      }
      yield* Effect.promise(async () => {
        for (let waited = 0; waited < patienceMillis; waited += 100) {
          if (child.exitCode !== null) throw new Error(`The process ended with ${child.exitCode}:\n${log}`)
          const ready = await call("GET", "/health/ready", { headers: {} }).catch(() => undefined)
          if (ready?.status === 200) return
          await delay(100)
        }
        throw new Error(`The process was not ready in four minutes:\n${log}`)
      })
      return { call, child, log: () => log }
    }),
    ({ child }) =>
      Effect.promise(async () => {
        if (child.exitCode !== null) return
        const ended = once(child, "exit")
        child.kill("SIGKILL")
        await ended
      })
  )

describe("upgrade and rollback", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  if (former === undefined) {
    it.skip("skipped because the history of the repository is not here", () => {})
    return
  }
  const [database, commit] = [newServerDatabase, former]

  it.live("the code before the last migration works on the migrated database, beside processes of this release", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-former-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const [code, dataDir] = [join(folder, "code"), join(folder, "data")]
      mkdirSync(code)
      mkdirSync(dataDir)
      execFileSync("tar", ["-x", "-C", code], {
        input: archiveOf(commit)
      })
      symlinkSync(join(repository, "node_modules"), join(code, "node_modules"))
      writeFileSync(
        join(dataDir, "tokens.json"),
        JSON.stringify({
          name: "Test",
          timestamp: "2026-01-01T00:00:00Z",
          version: { major: 1, minor: 0, patch: 0 },
          tokens: tokens.map(([address, symbol, decimals]) => ({
            chainId: 8453,
            address: `0x${address}`,
            symbol,
            name: symbol,
            decimals
          }))
        })
      )
      const url = yield* database
      const admin = { authorization: `Bearer ${adminToken}` }
      const strategy = {
        name: "Halves",
        allocation: { assets: tokens.map(([address]) => ({ assetId: `${base}${address}`, weight: "50" })) },
        schedule: { type: "interval", frequency: "daily" }
      }
      /** What the tokens' chains would say: there is none here. */
      const tokensAreChecked = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE assets SET checked_at = now() WHERE checked_at IS NULL`
      }).pipe(Effect.provide(Layer.fresh(databaseLayer(url))), Effect.scoped)
      /** Everything that a deployment does without a chain, by one process. */
      const works = async ({ call }: Effect.Success<ReturnType<typeof api>>) => {
        const tenant = await call("POST", "/v1/admin/tenants", {
          headers: admin,
          body: { name: "Acme", email: "a@b.example" }
        })
        assert.strictEqual(tenant.status, 201, JSON.stringify(tenant.body))
        const keys = `/v1/admin/tenants/${tenant.body.data.tenantId}/keys`
        const made = await call("POST", keys, {
          headers: admin,
          body: { scopes: ["strategies:write", "tenant:write"] }
        })
        assert.strictEqual(made.status, 400, "a name is needed: bad input is refused as ever")
        const issued = await call("POST", keys, {
          headers: admin,
          body: {
            name: "k",
            scopes: ["strategies:write", "portfolios:write"]
          }
        })
        assert.strictEqual(issued.status, 201, JSON.stringify(issued.body))
        const by = { "x-api-key": issued.body.data.apiKey as string }
        await Effect.runPromise(tokensAreChecked)
        const created = await call("POST", "/v2/strategies", { headers: by, body: strategy })
        assert.include([200, 201], created.status, JSON.stringify(created.body))
        return { by, strategyId: created.body.data.strategyId as string }
      }
      const reads = async (
        { call }: Effect.Success<ReturnType<typeof api>>,
        { by, strategyId }: Awaited<ReturnType<typeof works>>
      ) => {
        for (const path of [
          "/v2/whoami",
          "/v2/strategies",
          `/v2/strategies/${strategyId}`,
          "/v2/portfolios",
          "/v2/operations",
          "/v2/events"
        ]) {
          const answer = await call("GET", path, { headers: by })
          assert.strictEqual(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`)
        }
      }

      const current = yield* api(repository, url, dataDir)
      const ofCurrent = yield* Effect.promise(() => works(current))
      const old = yield* api(code, url, dataDir)
      const ofOld = yield* Effect.promise(() => works(old))
      for (const process of [current, old])
        for (const made of [ofCurrent, ofOld]) yield* Effect.promise(() => reads(process, made))
    }).pipe(Effect.scoped)
  )
})
