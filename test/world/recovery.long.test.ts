/**
 * PostgreSQL is recovered to a moment, by the commands of docs/operations.md under "Recovery to a moment", and the
 * service goes on with it, although the chains have moved on since.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { freePort } from "#sandbox/process/freePort.ts"
import { type PostgresServer, postgresServerWith, serverShell } from "#test/fault/support/PostgresServer.ts"
import {
  carried,
  chainBalance,
  createStrategy,
  enroll,
  type EnrolledPortfolio,
  finishedOperation,
  fund,
  newOwner,
  rebalance
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8")

/** The blocks of the section, in order. */
const [settings, baseBackup, recovery] = [
  ...page
    .slice(page.indexOf("### Recovery to a moment"), page.indexOf("## The command line"))
    .matchAll(/```(?:ini|sh)\n(.*?)```/gsu)
].map(([, block]) => block!)

const archiveOfPage = "/var/lib/postgresql/archive"
const archiveIn = (folder: string) => join(folder, "archive")

/**
 * An operation that is in a block waits for twenty blocks until it counts, unless the test makes them: so there is a
 * moment at which it has landed and the service does not know.
 */
const confirmations = 20
const slowlyConfirmed = {
  CONFIRMATIONS_8453: `${confirmations}`,
  CONFIRMATIONS_42161: `${confirmations}`,
  REBALANCE_COOLDOWN_SECONDS: "0"
}

/** Does the work while blocks come quickly on both chains. */
const withBlocks = async <A>(world: World, work: Promise<A>): Promise<A> => {
  const progress = { isDone: false }
  const end = () => void (progress.isDone = true)
  work.then(end, end)
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "anvil_mine",
    params: [`0x${confirmations.toString(16)}`]
  })
  const headers = { "content-type": "application/json" }
  while (!progress.isDone) {
    await Promise.all(world.overview.chains.map(({ rpcUrl }) => fetch(rpcUrl, { method: "POST", headers, body })))
    await wait(2_000)
  }
  return work
}

const finished = (world: World, portfolioId: string, operationId: string) =>
  withBlocks(world, finishedOperation(world, portfolioId, operationId))

/** A world until the scope closes. */
const worldOn = (dataDir: string, databaseUrl: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startWorld(dataDir, { ...slowlyConfirmed, DATABASE_URL: databaseUrl })),
    (started) => Effect.promise(() => started.stop())
  )

const operationOf = async (world: World, portfolioId: string, operationId: string) =>
  (await world.api("GET", `/v2/portfolios/${portfolioId}/operations/${operationId}`)).body.data

const traded = async (world: World, portfolioId: string, operationId: string) => {
  const operation = await finished(world, portfolioId, operationId)
  assert.strictEqual(operation.state, "completed", operation.error)
  assert.strictEqual(operation.outcome, "traded")
}

/** A portfolio without a schedule, so that only what the test asks for trades. */
const enrolled = async (world: World, strategyId: string, owner = newOwner()) => {
  const portfolio = await enroll(world, { strategyId, owner })
  const { body, status } = await world.api("POST", `/v2/portfolios/${portfolio.portfolioId}/stop`)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return portfolio
}

/** Funds the accounts of a portfolio, and waits until what they got is confirmed. */
const funded = async (world: World, { accounts, portfolioId }: EnrolledPortfolio) => {
  const before = await Promise.all(accounts.map((accountId) => chainBalance(world, accountId, "USDC")))
  await fund(world, accounts, 10_000n)
  const isConfirmed = async () => {
    const { body } = await world.api("GET", `/v2/portfolios/${portfolioId}/positions`)
    const shown = await Promise.all(
      accounts.map(async (accountId, index) => {
        const { assetId } = world.asset(Number(accountId.split(":")[1]), "USDC")
        const held = body.data.assets.find((asset: { assetId: string }) => asset.assetId === assetId)
        return BigInt(held?.balanceRaw ?? 0) === before[index]! + 10_000_000_000n
      })
    )
    return shown.every(Boolean) ? true : undefined
  }
  await withBlocks(world, eventually("the money is confirmed on each chain", isConfirmed))
}

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

  it.live(
    "goes on from there: what landed since is found, and nothing is sent twice",
    () =>
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
              const already = await carried(world, one.accounts)
              const landed = await rebalance(world, one.portfolioId)
              await eventually("the second rebalance is in a block of both chains", async () =>
                (await carried(world, one.accounts)).every((count, index) => count > already[index]!) ? true : undefined
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
              const counts = await carried(world, accounts)
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

          // Both go on by themselves, and send nothing that the chains have carried.
          await traded(world, one.portfolioId, landed)
          // What the moment knows of the last one is a chance: without its plan there is nothing left to do.
          const resumed = await finished(world, two.portfolioId, begun)
          assert.strictEqual(resumed.state, "completed", JSON.stringify(resumed))
          assert.deepStrictEqual(await carried(world, accounts), counts)

          // Positions are the chains', and so there is nothing left to do.
          const { body } = await world.api("GET", `/v2/portfolios/${one.portfolioId}/positions`)
          const { assetId } = world.asset(8453, "WETH")
          const weth = body.data.assets.find((asset: { assetId: string }) => asset.assetId === assetId)
          assert.strictEqual(BigInt(weth.balanceRaw), await chainBalance(world, one.accounts[0]!, "WETH"))
          const again = await finished(world, one.portfolioId, await rebalance(world, one.portfolioId))
          assert.include(["nothing_to_do", "skipped"], again.outcome, JSON.stringify(again))
          assert.deepStrictEqual(await carried(world, accounts), counts)

          // A portfolio that was enrolled since is enrolled again, at its addresses, and trades what comes in.
          assert.strictEqual((await world.api("GET", `/v2/portfolios/${three.portfolioId}`)).status, 404)
          const anew = await enrolled(world, strategyId, owner)
          assert.deepStrictEqual(anew.accounts, three.accounts)
          await funded(world, anew)
          await traded(world, anew.portfolioId, await rebalance(world, anew.portfolioId))
          const [since, others] = [
            (await carried(world, accounts)).slice(4),
            (await carried(world, accounts)).slice(0, 4)
          ]
          assert.deepStrictEqual(others, counts.slice(0, 4))
          for (const [index, count] of since.entries()) assert.isAbove(count, counts[index + 4]!)
        })
      }).pipe(Effect.scoped),
    600_000
  )
})
