/**
 * The crash matrix of one scenario: its slots, with a database each, and on real chains with accounts of their own.
 */
import { Effect } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ChainScenario } from "#test/fault/crash/chains/chainScenarios.ts"
import { ChainsHost } from "#test/fault/crash/chains/ChainsHost.ts"
import { databaseServer } from "#test/fault/crash/DatabaseServer.ts"
import type { MarketScenario } from "#test/fault/crash/marketScenarios.ts"
import { runMatrix } from "#test/fault/crash/runMatrix.ts"
import { copyOfTemplate } from "#test/support/database.ts"

/**
 * Services of a process; each has an embedded database, which takes memory, and on real chains moves the pools of the
 * others.
 */
const servicesOfAProcess = { real: 5, scripted: 8 }

/** Swaps move the pools of real chains: by this share amounts may differ. */
const poolShare = 0.005

const indices = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A folder for what Node compiled, which makes starts cheap; removed when the scope closes. */
export const compileCache = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "ballast-compiled-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Runs a scenario on real chains. */
export const chainMatrix = (scenario: ChainScenario, cacheDir: string) =>
  Effect.gen(function* () {
    const { configFor, restorePools } = yield* ChainsHost
    const slots = yield* Effect.forEach(indices(servicesOfAProcess.real), (index) =>
      Effect.gen(function* () {
        const dataDir = yield* copyOfTemplate
        const chains = yield* configFor(`${scenario} ${index}`)
        return { database: yield* databaseServer(dataDir), scenario, since: Date.now(), journal: null, chains }
      })
    )
    return yield* runMatrix({ slots, cacheDir, share: poolShare, prepare: restorePools })
  }).pipe(Effect.scoped)

/** Runs a scenario on scripted chains; at all moments, or at `sample` of them by as many services. */
export const marketMatrix = (scenario: MarketScenario, cacheDir: string, sample?: number) =>
  Effect.gen(function* () {
    const slots = yield* Effect.forEach(indices(sample ?? servicesOfAProcess.scripted), () =>
      Effect.gen(function* () {
        const dataDir = yield* copyOfTemplate
        const database = yield* databaseServer(dataDir)
        return { database, scenario, since: Date.now(), journal: join(dataDir, "chains"), chains: null }
      })
    )
    const setting = { slots, cacheDir, share: 0, prepare: Effect.void }
    return yield* runMatrix(sample === undefined ? setting : { ...setting, sample })
  }).pipe(Effect.scoped)
