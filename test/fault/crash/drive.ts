import { Effect } from "effect"
import { databaseServer } from "#test/fault/crash/DatabaseServer.ts"
import { runService } from "#test/fault/crash/CrashingProcess.ts"
import { marketScenarios } from "#test/fault/crash/marketScenarios.ts"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
const only = process.argv[2]
for (const scenario of Object.keys(marketScenarios).filter((n) => only === undefined || n.includes(only))) {
  const dir = mkdtempSync("/tmp/crashdrive-")
  cpSync("/tmp/crashprobe", dir, { recursive: true })
  await Effect.runPromise(Effect.gen(function*() {
    const database = yield* databaseServer(dir)
    const t = performance.now()
    const r = yield* Effect.promise(() => runService({ database, scenario, journal: dir + "/journal", chains: null, tasks: [{ _tag: "Begin" }] }, "/tmp/crashcc"))
    console.log(scenario, Math.round(performance.now() - t), "ms", r.isKilled)
    const t2 = performance.now()
    yield* Effect.promise(() => runService({ database, scenario, journal: dir + "/journal", chains: null, tasks: [{ _tag: "Begin" }] }, "/tmp/crashcc"))
    console.log("second", Math.round(performance.now() - t2))
    for (const m of r.messages) console.log(m._tag === "Passed" ? "  " + m.boundary : JSON.stringify(m, null, 1))
  }).pipe(Effect.scoped)).finally(() => rmSync(dir, { recursive: true, force: true }))
}
