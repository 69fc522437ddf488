/**
 * A backup of PostgreSQL is restored into a new database by the steps of docs/operations.md. The service goes on with
 * it, although the chains have moved on since it was made.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { newServerDatabase } from "#test/support/database.ts"
import {
  chainBalance,
  createStrategy,
  enroll,
  finishedOperation,
  atRest,
  fund,
  newOwner,
  rebalance
} from "#test/support/journey.ts"
import { startWorld, worldFolder } from "#test/support/World.ts"

const run = (command: string, args: ReadonlyArray<string>) => {
  const { error, status, stderr } = spawnSync(command, args, { encoding: "utf8" })
  if (error !== undefined || status !== 0) throw new Error(`${command} ended with ${status}: ${error ?? stderr}`)
}

const missing = ["pg_dump", "pg_restore", "psql"].find(
  (program) => spawnSync(program, ["--version"]).error !== undefined
)

/** A world until the scope closes. */
const world = (dataDir: string, databaseUrl: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startWorld(dataDir, { DATABASE_URL: databaseUrl })),
    (started) => Effect.promise(() => started.stop())
  )

describe("a backup", () => {
  if (missing !== undefined) {
    it.skip(`skipped because ${missing} is not installed`, () => {})
    return
  }
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const database = newServerDatabase

  it.live(
    "is restored into a new database, and the service goes on with it, with the positions that the chains show",
    () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Effect.acquireRelease(Effect.promise(worldFolder), ({ remove }) =>
          Effect.promise(remove)
        )
        const original = yield* database
        const restored = yield* database
        const backup = join(dataDir, "ballast.dump")

        const { accounts, before, later, portfolioId, strategyId } = yield* Effect.scoped(
          Effect.gen(function* () {
            const one = yield* world(dataDir, original)
            return yield* Effect.promise(async () => {
              const strategyId = await createStrategy(one)
              const { accounts, portfolioId } = await enroll(one, { strategyId, owner: newOwner() })
              await fund(one, accounts, 10_000n)
              const before = await rebalance(one, portfolioId)
              assert.strictEqual((await finishedOperation(one, portfolioId, before)).state, "completed")
              await atRest(one, portfolioId)
              run("pg_dump", ["--format=custom", "--file", backup, original])
              // What the backup does not know: more money, and trades that relayed transactions made.
              await fund(one, accounts, 10_000n)
              await one.control("/clock/advance", { ms: 120_000 })
              const later = await rebalance(one, portfolioId)
              assert.strictEqual((await finishedOperation(one, portfolioId, later)).outcome, "traded")
              return { accounts, before, later, portfolioId, strategyId }
            })
          })
        )

        run("pg_restore", ["--clean", "--if-exists", "--exit-on-error", "--no-owner", "--dbname", restored, backup])

        const two = yield* world(dataDir, restored)
        yield* Effect.promise(async () => {
          const operations = `/v2/portfolios/${portfolioId}/operations`
          assert.strictEqual((await two.api("GET", `${operations}/${before}`)).body.data.outcome, "traded")
          assert.strictEqual((await two.api("GET", `${operations}/${later}`)).status, 404)
          assert.strictEqual((await two.api("GET", `/v2/strategies/${strategyId}`)).status, 200)

          // Positions are the chains', not the backup's.
          const { body } = await two.api("GET", `/v2/portfolios/${portfolioId}/positions`)
          const { assetId } = two.asset(8453, "WETH")
          const weth = body.data.assets.find((asset: { assetId: string }) => asset.assetId === assetId)
          assert.strictEqual(BigInt(weth.balanceRaw), await chainBalance(two, accounts[0]!, "WETH"))

          await two.control("/clock/advance", { ms: 120_000 })
          const after = await finishedOperation(two, portfolioId, await rebalance(two, portfolioId))
          assert.strictEqual(after.state, "completed")
        })
      }).pipe(Effect.scoped)
  )
})
