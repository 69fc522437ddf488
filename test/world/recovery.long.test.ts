/**
 * PostgreSQL is recovered to a moment, by the commands of docs/operations.md under "Recovery to a moment", and the
 * service goes on with it, although the chains have moved on since.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "#sandbox/process/freePort.ts"
import { type PostgresServer, postgresServerWith, serverShell } from "#test/fault/support/PostgresServer.ts"
import { included, chainBalance, createStrategy, newOwner, rebalance } from "#test/support/journey.ts"
import { eventually, worldFolder } from "#test/support/World.ts"
import { enrolled, finished, funded, operationOf, traded, worldOn } from "#test/world/support/slowlyConfirmed.ts"

const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8")

/** The blocks of the section, in order. */
const [settings, baseBackup, recovery] = [
  ...page
    .slice(page.indexOf("### Recovery to a moment"), page.indexOf("## The command line"))
    .matchAll(/```(?:ini|sh)\n(.*?)```/gsu)
].map(([, block]) => block!)

const archiveOfPage = "/var/lib/postgresql/archive"
const archiveIn = (folder: string) => join(folder, "archive")

/** One line of what the server answers to a statement. */
const asked = (server: PostgresServer, statement: string) =>
  serverShell(`psql --no-psqlrc --tuples-only --no-align --command "$STATEMENT" "$DATABASE_URL"`, {
    DATABASE_URL: server.url,
    STATEMENT: statement
  }).then(({ stdout }) => stdout.trim())

/** The segment that is being written is whole, and in the archive. */
const archived = async (server: PostgresServer) => {
  const segment = await asked(server, "SELECT pg_walfile_name(pg_switch_wal())")
  await eventually("the last segment of the log is in the archive", async () =>
    (await asked(server, "SELECT last_archived_wal FROM pg_stat_archiver")) >= segment ? true : undefined
  )
}

/** Runs the commands of the page for the recovery; the server that they start ends with the scope. */
const recovered = (folder: string, moment: string) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const port = yield* Effect.orDie(freePort)
      const data = join(folder, "recovered")
      const environment = { BACKUP: join(folder, "backup"), RECOVERED: data, MOMENT: moment, PORT: `${port}` }
      yield* Effect.promise(() => serverShell(recovery!.replaceAll(archiveOfPage, archiveIn(folder)), environment))
      return { data, url: `postgres://postgres@127.0.0.1:${port}/postgres` }
    }),
    ({ data }) =>
      Effect.promise(() => serverShell(`pg_ctl stop --wait --mode immediate --pgdata "$DATA"`, { DATA: data }))
  )

describe("recovery to a moment", () => {
  if (postgresServerWith === undefined) {
    it.skip("skipped because initdb, postgres, pg_basebackup, pg_ctl and psql are not installed", () => {})
    return
  }
  const newServer = postgresServerWith

  it.live("goes on from there: what landed since is found, and nothing is sent twice", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* Effect.acquireRelease(Effect.promise(worldFolder), ({ remove }) =>
        Effect.promise(remove)
      )
      const server = yield* newServer((folder) => settings!.replaceAll(archiveOfPage, archiveIn(folder)))
      yield* Effect.promise(() => serverShell(`mkdir "$ARCHIVE"`, { ARCHIVE: archiveIn(server.folder) }))

      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const world = yield* worldOn(dataDir, server.url)
          return yield* Effect.promise(async () => {
            const strategyId = await createStrategy(world)
            const one = await enrolled(world, strategyId)
            const two = await enrolled(world, strategyId)
            await serverShell(baseBackup!, { BACKUP: join(server.folder, "backup"), DATABASE_URL: server.url })

            // The backup does not know of the first, nor the archive at the moment how the other two ended.
            await funded(world, one)
            const known = await rebalance(world, one.portfolioId)
            await traded(world, one.portfolioId, known)
            await Promise.all([funded(world, one), funded(world, two)])
            const already = await included(world, one.accounts)
            const landed = await rebalance(world, one.portfolioId)
            await eventually("the second rebalance is in a block of both chains", async () =>
              (await included(world, one.accounts)).every((count, index) => count > already[index]!) ? true : undefined
            )
            const begun = await rebalance(world, two.portfolioId)
            const moment = await asked(server, "SELECT clock_timestamp()")
            assert.strictEqual((await operationOf(world, one.portfolioId, landed)).state, "running")

            // What nobody knows of at the moment: how they end, a run of its own, and a third portfolio that trades.
            await traded(world, one.portfolioId, landed)
            await traded(world, two.portfolioId, begun)
            await funded(world, one)
            const later = await rebalance(world, one.portfolioId)
            await traded(world, one.portfolioId, later)
            const owner = newOwner()
            const three = await enrolled(world, strategyId, owner)
            await funded(world, three)
            await traded(world, three.portfolioId, await rebalance(world, three.portfolioId))
            await archived(server)
            const accounts = [...one.accounts, ...two.accounts, ...three.accounts]
            const counts = await included(world, accounts)
            return { accounts, begun, counts, known, landed, later, moment, one, owner, strategyId, three, two }
          })
        })
      )
      yield* server.crash

      const copy = yield* recovered(server.folder, before.moment)
      const world = yield* worldOn(dataDir, copy.url)
      yield* Effect.promise(async () => {
        const { accounts, begun, counts, known, landed, later, one, owner, strategyId, three, two } = before
        assert.strictEqual((await operationOf(world, one.portfolioId, known)).outcome, "traded")
        const unknown = await world.api("GET", `/v2/portfolios/${one.portfolioId}/operations/${later}`)
        assert.strictEqual(unknown.status, 404)

        // Both go on by themselves, and send nothing that the chains have included.
        await traded(world, one.portfolioId, landed)
        // What the moment knows of the last one is a chance: without its plan there is nothing left to do.
        const resumed = await finished(world, two.portfolioId, begun)
        assert.strictEqual(resumed.state, "completed", JSON.stringify(resumed))
        assert.deepStrictEqual(await included(world, accounts), counts)

        // Positions are the chains', and so there is nothing left to do.
        const { body } = await world.api("GET", `/v2/portfolios/${one.portfolioId}/positions`)
        const { assetId } = world.asset(8453, "WETH")
        const weth = body.data.assets.find((asset: { assetId: string }) => asset.assetId === assetId)
        assert.strictEqual(BigInt(weth.balanceRaw), await chainBalance(world, one.accounts[0]!, "WETH"))
        const again = await finished(world, one.portfolioId, await rebalance(world, one.portfolioId))
        assert.include(["nothing_to_do", "skipped"], again.outcome, JSON.stringify(again))
        assert.deepStrictEqual(await included(world, accounts), counts)

        // A portfolio that was enrolled since is enrolled again, at its addresses, and trades what comes in.
        assert.strictEqual((await world.api("GET", `/v2/portfolios/${three.portfolioId}`)).status, 404)
        const anew = await enrolled(world, strategyId, owner)
        assert.deepStrictEqual(anew.accounts, three.accounts)
        await funded(world, anew)
        await traded(world, anew.portfolioId, await rebalance(world, anew.portfolioId))
        const [since, others] = [
          (await included(world, accounts)).slice(4),
          (await included(world, accounts)).slice(0, 4)
        ]
        assert.deepStrictEqual(others, counts.slice(0, 4))
        for (const [index, count] of since.entries()) assert.isAbove(count, counts[index + 4]!)
      })
    }).pipe(Effect.scoped)
  )
})
