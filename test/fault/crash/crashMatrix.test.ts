/**
 * Every run survives `kill -9` at every boundary that it passes, and each on-chain step lands once. The list of boundaries is
 * what undisturbed runs pass, so a new step is in the matrix as soon as it exists; see docs/decisions/0061-crash-matrix.md.
 */
import { Effect, Layer, ManagedRuntime, Semaphore } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ChainScenario, chainScenarioNames } from "#test/fault/crash/chainScenarios.ts"
import { ChainsHost } from "#test/fault/crash/ChainsHost.ts"
import { databaseServer } from "#test/fault/crash/DatabaseServer.ts"
import { type MarketScenario, marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { runMatrix } from "#test/fault/crash/runMatrix.ts"
import { stepsInSource } from "#test/fault/crash/stepsInSource.ts"
import { copyOfTemplate } from "#test/support/database.ts"

/** Services of a process; each has an embedded database, which takes memory, and on real chains moves the pools of the others. */
const servicesOfAProcess = { real: 5, scripted: 8 }
/** As many processes as the smallest machine has cores. */
const processes = Semaphore.makeUnsafe(2)

/** Swaps move the pools of real chains: by this share amounts may differ. */
const poolShare = 0.005

/** A scenario crashes a few dozen times, and each recovery may take seconds on a busy machine. */
const patienceMs = 1_800_000

/** Kinds of steps that no scenario comes to, each with the reason. */
const unreached: Readonly<Record<string, string>> = {
  turn: "a pause of a run that resumes while another one of its portfolio is at work; each portfolio here has one run"
}

let cacheDir: string
let host: ManagedRuntime.ManagedRuntime<ChainsHost, never>
const boundaries: Array<string> = []

beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), "ballast-compiled-"))
  host = ManagedRuntime.make(Layer.orDie(ChainsHost.layer))
  await host.runPromise(Effect.void)
}, 120_000)

afterAll(async () => {
  await host?.dispose()
  if (cacheDir !== undefined) await rm(cacheDir, { recursive: true, force: true })
})

const place = Effect.fnUntraced(function* (scenario: MarketScenario | ChainScenario, isReal: boolean, index: number) {
  const dataDir = yield* copyOfTemplate
  const chains = isReal ? yield* Effect.flatMap(ChainsHost, ({ configFor }) => configFor(`${scenario} ${index}`)) : null
  return {
    database: yield* databaseServer(dataDir),
    scenario,
    since: Date.now(),
    journal: isReal ? null : join(dataDir, "chains"),
    chains
  }
})

const matrixOf = (scenario: MarketScenario | ChainScenario, isReal: boolean) =>
  Effect.gen(function* () {
    const { restorePools } = yield* ChainsHost
    const places = yield* Effect.forEach(
      Array.from({ length: isReal ? servicesOfAProcess.real : servicesOfAProcess.scripted }).keys(),
      (index) => place(scenario, isReal, index)
    )
    return yield* runMatrix({
      places,
      cacheDir,
      share: isReal ? poolShare : 0,
      prepare: isReal ? restorePools : Effect.void
    })
  }).pipe(Effect.scoped, processes.withPermits(1))

const crashed = async (scenario: MarketScenario | ChainScenario, isReal: boolean) => {
  const matrix = await host.runPromise(matrixOf(scenario, isReal))
  boundaries.push(...matrix.boundaries)
  assert.deepStrictEqual(matrix.problems, [])
  assert.isAtLeast(matrix.crashes, 10)
}

describe("kill -9 at every boundary", () => {
  describe.concurrent("on real chains", () => {
    it.each(chainScenarioNames)("of %s", (scenario) => crashed(scenario, true), patienceMs)
  })

  describe.concurrent("on chains of a script", () => {
    it.each(Object.keys(marketScenarios) as ReadonlyArray<MarketScenario>)(
      "of %s",
      (scenario) => crashed(scenario, false),
      patienceMs
    )
  })

  it("leaves out no kind of run and no kind of step that the sources name", () => {
    const steps = boundaries.flatMap((boundary) => {
      const found = /^([A-Z][A-Za-z]*)\d+ (?:DurableClock\/)?([a-z]+)/.exec(boundary)
      return found === null ? [] : [{ run: found[1]!, kind: found[2]! }]
    })
    assert.includeMembers([...new Set(steps.map(({ run }) => run))], ["Rebalance", "Bridge", "Withdrawal"])
    const kinds = new Set(steps.map(({ kind }) => kind))
    const inSource = [...stepsInSource()].filter((kind) => unreached[kind] === undefined)
    assert.deepStrictEqual(
      inSource.filter((kind) => !kinds.has(kind)),
      [],
      "give these a scenario, or say in `unreached` why they have none"
    )
    const must = ["plan", "prepare", "announce", "sign", "confirm", "replace", "record", "depart", "retract", "watch"]
    assert.includeMembers([...kinds], [...must, "verify", "begin", "finish", "fail", "abandon", "launched", "ended"])
    for (const moment of [" timer, stored", " asleep", "sent to 8453, unheard", "signed for 8453", " done, not stored"])
      assert.isTrue(
        boundaries.some((boundary) => boundary.endsWith(moment)),
        moment
      )
  })
})
