import { Effect } from "effect"
import { databaseServer } from "#test/fault/crash/DatabaseServer.ts"
import { runMatrix } from "#test/fault/crash/runMatrix.ts"
import { marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
const only = process.argv[2]
for (const scenario of Object.keys(marketScenarios).filter((n) => only === undefined || n.includes(only))) {
  const dir = mkdtempSync("/tmp/crashdrive-")
  cpSync("/tmp/crashprobe", dir, { recursive: true })
  await Effect.runPromise(
    Effect.gen(function* () {
      const database = yield* databaseServer(dir)
      const t = performance.now()
      const r = yield* Effect.promise(() =>
        runMatrix({
          database,
          scenario,
          since: Date.now(),
          journal: dir + "/journal",
          chains: null,
          cacheDir: "/tmp/crashcc",
          share: 0
        })
      )
      console.log(scenario, Math.round(performance.now() - t), "ms", r.boundaries.length, r.crashes)
      for (const m of r.problems) console.log("  ", m)
    }).pipe(Effect.scoped)
  ).finally(() => rmSync(dir, { recursive: true, force: true }))
}
