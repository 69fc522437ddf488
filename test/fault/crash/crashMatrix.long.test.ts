/**
 * Every run survives `kill -9` at every boundary that it passes, and each on-chain step lands once. The list of
 * boundaries is what undisturbed runs pass, so a new step is in the matrix as soon as it exists; see
 * docs/decisions/0061-crash-matrix.md.
 */
import { Effect, Exit, Layer, ManagedRuntime, Scope, Semaphore } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { chainScenarioNames } from "#test/fault/crash/chains/chainScenarios.ts"
import { ChainsHost } from "#test/fault/crash/chains/ChainsHost.ts"
import { type MarketScenario, marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import type { Matrix } from "#test/fault/crash/runMatrix.ts"
import { chainMatrix, compileCache, marketMatrix } from "#test/fault/crash/scenarioMatrix.ts"
import { stepsInSource } from "#test/fault/crash/stepsInSource.ts"

/** Processes at a time, as many as the smallest machine has cores. */
const processes = Semaphore.makeUnsafe(2)

/** A scenario crashes a few dozen times, and each recovery may take seconds on a busy machine. */
const timeoutMs = 1_800_000

/** Kinds of steps that no scenario comes to, each with the reason. */
const unreached: Readonly<Record<string, string>> = {
  line: "a pause of an operation that waits for another one of its account, where each portfolio here has one; test/fault/oneAccount.long.test.ts kills the service meanwhile",
  turn: "a pause of a run that resumes while another one of its portfolio is at work; each portfolio here has one run"
}

const scope = Scope.makeUnsafe()
let cacheDir: string
let host: ManagedRuntime.ManagedRuntime<ChainsHost, never>
const boundaries: Array<string> = []

beforeAll(async () => {
  cacheDir = await Effect.runPromise(Scope.provide(compileCache, scope))
  host = ManagedRuntime.make(Layer.orDie(ChainsHost.layer))
  await host.runPromise(Effect.void)
})

afterAll(async () => {
  await host?.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const crashed = async (run: Effect.Effect<Matrix, unknown, ChainsHost>) => {
  const matrix = await host.runPromise(processes.withPermits(1)(run))
  boundaries.push(...matrix.boundaries)
  assert.deepStrictEqual(matrix.problems, [])
  assert.isAtLeast(matrix.crashes, 10)
}

describe("kill -9 at every boundary", () => {
  describe.concurrent("on real chains", () => {
    it.each(chainScenarioNames)("of %s", (scenario) => crashed(chainMatrix(scenario, cacheDir)), timeoutMs)
  })

  describe.concurrent("on chains of a script", () => {
    it.each(Object.keys(marketScenarios) as ReadonlyArray<MarketScenario>)(
      "of %s",
      (scenario) => crashed(marketMatrix(scenario, cacheDir)),
      timeoutMs
    )
  })

  it("leaves out no kind of run and no kind of step that the sources name", () => {
    const steps = boundaries.flatMap((boundary) => {
      const found = /^([A-Z][A-Za-z]*)\d+ (?:DurableClock\/)?([a-z]+)/.exec(boundary)
      return found === null ? [] : [{ run: found[1]!, kind: found[2]! }]
    })
    assert.includeMembers(
      [...new Set(steps.map(({ run }) => run))],
      ["Rebalance", "Bridge", "Withdrawal", "Revocation", "Action"]
    )
    const kinds = new Set(steps.map(({ kind }) => kind))
    const inSource = [...stepsInSource()].filter((kind) => unreached[kind] === undefined)
    assert.deepStrictEqual(
      inSource.filter((kind) => !kinds.has(kind)),
      [],
      "give these a scenario, or say in `unreached` why they have none"
    )
    const must = [
      "plan",
      "prepare",
      "announce",
      "sign",
      "confirm",
      "replace",
      "record",
      "depart",
      "retract",
      "watch",
      "part"
    ]
    assert.includeMembers([...kinds], [...must, "verify", "begin", "finish", "abandon", "launched", "ended"])
    for (const moment of [
      " timer, stored",
      " asleep",
      "sent to 8453, unheard",
      "sent to 1399811149, unheard",
      "signed for 8453",
      " done, not stored"
    ])
      assert.isTrue(
        boundaries.some((boundary) => boundary.endsWith(moment)),
        moment
      )
  })
})
