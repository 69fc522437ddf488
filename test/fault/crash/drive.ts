import { Effect } from "effect"
import { databaseServer } from "#test/fault/crash/DatabaseServer.ts"
import { runMatrix } from "#test/fault/crash/runMatrix.ts"
import { marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { chainScenarioNames } from "#test/fault/crash/chainScenarios.ts"
import { ChainsHost } from "#test/fault/crash/ChainsHost.ts"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
const [, , only, n] = process.argv
const names = [...Object.keys(marketScenarios), ...chainScenarioNames]
for (const scenario of names.filter((n) => only === undefined || n.includes(only))) {
  const isChain = (chainScenarioNames as readonly string[]).includes(scenario)
  await Effect.runPromise(
    Effect.gen(function* () {
      const host = isChain ? yield* ChainsHost : undefined
      const places = yield* Effect.forEach(
        Array.from({ length: Number(n ?? 4) }, (_, i) => i),
        (i) =>
          Effect.gen(function* () {
            const dir = mkdtempSync("/tmp/crashdrive-")
            cpSync("/tmp/crashprobe", dir, { recursive: true })
            yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
            const database = yield* databaseServer(dir)
            return {
              database,
              scenario,
              since: Date.now(),
              journal: isChain ? null : dir + "/journal",
              chains: host === undefined ? null : yield* host.configFor(scenario + i)
            }
          })
      )
      const t = performance.now()
      const r = yield* runMatrix({
        places,
        cacheDir: "/tmp/crashcc",
        share: isChain ? 0.005 : 0,
        prepare: host?.restorePools ?? Effect.void
      })
      console.log(scenario, Math.round(performance.now() - t), "ms", r.boundaries.length, r.crashes)
      if (process.env.SHOW) for (const m of r.boundaries) console.log("  > ", m)
      for (const m of r.problems) console.log("  ", m)
    }).pipe(Effect.provide(ChainsHost.layer), Effect.scoped)
  )
}
