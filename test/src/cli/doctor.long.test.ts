/** `doctor` as a process, on a deployment with a real chain, whole and broken in each way that it checks. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Hex, keccak256, parseEther, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { withdrawalExecutor } from "#layers/evm/contracts.ts"
import { type Chain, setChainTime, setEther, startChain } from "#sandbox/chain/Chain.ts"
import { emptyServerDatabase, newServerDatabase } from "#test/support/database.ts"
import { runCli } from "#test/src/cli/support/runCli.ts"

const key = (name: string) => keccak256(toHex(`ballast doctor ${name}`))
const [relayer, agent, attestor] = ["relayer", "agent", "attestor"].map(
  (name) => privateKeyToAccount(key(name)).address
)

interface Finding {
  readonly subject: string
  readonly status: string
  readonly detail: string
  readonly toDo: string | null
}

class Deployment extends Context.Service<
  Deployment,
  { readonly chain: Chain; readonly folder: string; readonly env: Readonly<Record<string, string>> }
>()("ballast/test/Deployment") {
  static readonly layer = Layer.effect(
    Deployment,
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-doctor-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const chain = yield* startChain({ chainId: 8453, attestor: attestor! })
      yield* setEther(chain, relayer!, parseEther("1"))
      const chainFiles = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-chains-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      writeFileSync(join(chainFiles, "8453.json"), JSON.stringify(chain.file))
      const url = yield* newServerDatabase!
      const env = {
        DATABASE_URL: url,
        API_KEY_PEPPER: "p".repeat(64),
        INTERNAL_TOKEN: "t".repeat(64),
        AGENT_PRIVATE_KEY: key("agent"),
        RELAYER_PRIVATE_KEY: key("relayer"),
        ATTESTOR_PRIVATE_KEY: key("attestor"),
        RPC_URL_8453: chain.rpcUrl,
        UNISWAP_V2_ROUTER_8453: chain.contracts.router,
        TRADE_GUARD_8453: chain.contracts.guard,
        CHAIN_FILES: chainFiles
      }
      return { chain, folder, env }
    })
  )
}

/** What doctor finds with other variables; whether it ended as its answer says. */
const diagnosed = Effect.fnUntraced(function* (changes: Readonly<Record<string, string>> = {}) {
  const { chain, env, folder } = yield* Deployment
  // The chain makes a block when a transaction arrives, and none while nothing does.
  yield* Effect.promise(() => chain.client.mine({ blocks: 1 }))
  const { code, err, out } = yield* runCli(["doctor", "--json"], { ...env, ...changes }, folder)
  const { findings, healthy } = JSON.parse(out) as { readonly healthy: boolean; readonly findings: Array<Finding> }
  assert.strictEqual(code, healthy ? 0 : 1, err)
  for (const finding of findings) assert.strictEqual(finding.toDo === null, finding.status === "ok", finding.detail)
  const problems = findings.filter(({ status }) => status === "problem")
  assert.strictEqual(healthy, problems.length === 0)
  return { findings, problems: problems.map(({ detail, subject }) => `${subject}: ${detail}`), out }
})

/** There is one problem, which says this. */
const assertOnly = (problems: ReadonlyArray<string>, part: string) => {
  assert.lengthOf(problems, 1, problems.join("\n"))
  assert.include(problems[0], part)
}

if (newServerDatabase === undefined || emptyServerDatabase === undefined)
  describe("doctor", () => it.skip("skipped because TEST_DATABASE_URL is not set", () => {}))
else {
  const [newDatabase, emptyDatabase] = [newServerDatabase, emptyServerDatabase]
  layer(Deployment.layer, { excludeTestServices: true })("doctor", (it) => {
    it.effect("finds a whole deployment healthy, lists each part, ends with 0, and writes nothing", () =>
      Effect.gen(function* () {
        const { env, folder } = yield* Deployment
        const { findings, problems } = yield* diagnosed()
        assert.deepStrictEqual(problems, [])
        const reported = (part: string) =>
          assert.isTrue(
            findings.some(({ detail }) => detail.includes(part)),
            part
          )
        for (const part of [
          "every variable can be read",
          "its schema is that of this release",
          "the database's clock is",
          "endpoint 1 of 1 answers for this chain",
          "every contract is there",
          "12 contracts of others have the code that its file pins",
          `relayer ${relayer} has 1 native tokens`,
          "its guard is sealed",
          `the agent's key is that of ${agent}`
        ])
          reported(part)
        const text = yield* runCli(["doctor"], env, folder)
        assert.strictEqual(text.code, 0)
        assert.match(text.out, /^ok +configuration: every variable can be read$/mu)
        for (const secret of [key("agent"), key("relayer"), env["API_KEY_PEPPER"]!, env["RPC_URL_8453"]!])
          assert.notInclude(text.out + text.err, secret)
        assert.deepStrictEqual(readdirSync(folder), [])
      })
    )

    it.effect("reports every variable that is wrong, and then checks nothing else", () =>
      Effect.gen(function* () {
        const { problems } = yield* diagnosed({ API_KEY_PEPPER: "short", RELAYER_PRIVATE_KEY: "" })
        assert.lengthOf(problems, 2)
        assert.include(problems.join("\n"), "configuration: API_KEY_PEPPER: is malformed")
        assert.include(problems.join("\n"), "configuration: RELAYER_PRIVATE_KEY: is not set")
      })
    )

    it.effect("reports a database that does not answer, is empty, or is of another release, and changes none", () =>
      Effect.gen(function* () {
        const away = yield* diagnosed({ DATABASE_URL: "postgres://postgres:hidden@127.0.0.1:9/nowhere" })
        assertOnly(away.problems, "database: the database of DATABASE_URL does not answer")
        assert.notInclude(away.out, "hidden")
        const empty = yield* emptyDatabase
        assertOnly((yield* diagnosed({ DATABASE_URL: empty })).problems, "There is no service's data")
        const ahead = yield* newDatabase
        const on = (url: string, work: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
          Effect.flatMap(SqlClient.SqlClient, work).pipe(
            Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
            Effect.orDie
          )
        yield* on(ahead, (sql) => sql`INSERT INTO schema_migrations (migration_id, name) VALUES (9001, 'later')`)
        assertOnly((yield* diagnosed({ DATABASE_URL: ahead })).problems, "A later release has migrated")
        yield* on(ahead, (sql) => sql`DELETE FROM schema_migrations WHERE migration_id > 20`)
        assertOnly((yield* diagnosed({ DATABASE_URL: ahead })).problems, "is that of an earlier release")
        assert.lengthOf(
          (yield* on(empty, (sql) => sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`)) as Array<unknown>,
          0
        )
        const embedded = yield* diagnosed({ DATABASE_URL: "" })
        assertOnly(embedded.problems, "There is no database in DATA_DIR")
      }).pipe(Effect.scoped)
    )

    it.effect("reports a pool that the server cannot hold, and a pepper that is not the service's", () =>
      Effect.gen(function* () {
        assertOnly((yield* diagnosed({ DATABASE_POOL: "500" })).problems, "a process takes 504 connections")
        const url = yield* newDatabase
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO peppers (pepper, noted_at) VALUES ('another', now())`
        ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
        assertOnly((yield* diagnosed({ DATABASE_URL: url })).problems, "pepper: API_KEY_PEPPER is not the one")
      }).pipe(Effect.scoped)
    )

    it.effect("reports an endpoint that is away or of another chain, by its number and not by its address", () =>
      Effect.gen(function* () {
        const { chain, env } = yield* Deployment
        const away = "http://127.0.0.1:9/v1/secret-of-the-provider"
        const two = yield* diagnosed({ RPC_URL_8453: `${chain.rpcUrl},${away}` })
        assertOnly(two.problems, "chain 8453: endpoint 2 of 2 cannot be used")
        assert.notInclude(two.out, "secret-of-the-provider")
        const other = yield* diagnosed({
          RPC_URL_42161: env["RPC_URL_8453"]!,
          UNISWAP_V2_ROUTER_42161: chain.contracts.router
        })
        assertOnly(other.problems, "the endpoint serves chain 8453 where chain 42161 is configured")
      })
    )

    it.effect(
      "reports a contract that is not there, gas that is missing, and an attestor that the guard does not accept",
      () =>
        Effect.gen(function* () {
          const { chain } = yield* Deployment
          const code = yield* Effect.promise(() => chain.client.getCode({ address: withdrawalExecutor }))
          yield* Effect.promise(() => chain.client.setCode({ address: withdrawalExecutor, bytecode: "0x" }))
          assertOnly((yield* diagnosed()).problems, `it lacks the withdrawal executor (${withdrawalExecutor})`)
          yield* Effect.promise(() => chain.client.setCode({ address: withdrawalExecutor, bytecode: code! }))

          const poor = privateKeyToAccount(key("poor")).address
          assertOnly((yield* diagnosed({ RELAYER_PRIVATE_KEY: key("poor") })).problems, `relayer ${poor} has 0 native`)
          yield* setEther(chain, poor, 1_000n)
          const low = yield* diagnosed({ RELAYER_PRIVATE_KEY: key("poor") })
          assert.deepStrictEqual(low.problems, [])
          assert.isTrue(low.findings.some(({ status, subject }) => status === "warning" && subject === "chain 8453"))
          const stranger = yield* diagnosed({ ATTESTOR_PRIVATE_KEY: key("stranger") })
          assertOnly(stranger.problems, "its guard accepts the attestor")
        })
    )

    it.effect("reports other code of each contract that the chain's file pins, and code that nobody pinned", () =>
      Effect.gen(function* () {
        const { chain, folder } = yield* Deployment
        const { contracts } = chain
        const changed = [
          ["Kernel's factory", contracts.kernelFactory],
          ["Kernel's meta factory", contracts.metaFactory],
          ["the agent's signer module", contracts.agentSigner],
          ["the stand-in of LI.FI's diamond", contracts.diamond],
          ["the Uniswap v2 router", contracts.router],
          ["the stand-in of Across's SpokePool", contracts.bridge]
        ] as const
        const codes = new Map<string, Hex>()
        for (const [, address] of changed) {
          const code = (yield* Effect.promise(() => chain.client.getCode({ address })))!
          codes.set(address, code)
          yield* Effect.promise(() => chain.client.setCode({ address, bytecode: `${code}00` }))
        }
        const { problems } = yield* diagnosed()
        for (const [name, address] of changed)
          assert.isTrue(
            problems.some((line) => line.startsWith(`chain 8453: ${name} (${address}) has other code`)),
            name
          )
        assert.lengthOf(problems, changed.length)
        for (const [, address] of changed)
          yield* Effect.promise(() => chain.client.setCode({ address, bytecode: codes.get(address)! }))
        const unpinned = mkdtempSync(join(tmpdir(), "ballast-chains-"))
        const venues = chain.file.venues.map((venue) => ({ ...venue, codeHash: null }))
        writeFileSync(join(unpinned, "8453.json"), JSON.stringify({ ...chain.file, venues }))
        const { findings } = yield* diagnosed({ CHAIN_FILES: unpinned })
        rmSync(unpinned, { recursive: true })
        const warned = findings.filter(
          ({ detail, status }) => status === "warning" && detail.includes("has no codeHash")
        )
        assert.lengthOf(warned, venues.length)
        assert.deepStrictEqual(readdirSync(folder), [])
      })
    )

    it.effect("reports a clock that is far from the chain's", () =>
      Effect.gen(function* () {
        const { chain } = yield* Deployment
        yield* setChainTime(chain.client, Date.now() + 600_000)
        assertOnly((yield* diagnosed()).problems, "s in the future")
      })
    )
  })
}
