import { Effect } from "effect"
import { openDatabase } from "#test/simulation/stage/Database.ts"
import { simulate } from "#test/simulation/Simulation.ts"
const [from, to] = process.argv.slice(2).map(Number)
const trace = process.argv.includes("--trace")
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const db = yield* openDatabase
  for (let seed = from!; seed <= to!; seed++) {
    const t = performance.now()
    const end = yield* Effect.promise(() => simulate(db, seed, trace ? { print: (l) => console.log(l) } : {}))
    console.log(seed, (performance.now() - t).toFixed(0) + "ms", "turns", end.turns, "sql", end.statements, (end.virtualMs/3.6e6).toFixed(1)+"h", end.digest.slice(0, 8), JSON.stringify([...end.outcomes]), end.failure === null ? "ok" : "FAILED " + end.failure.invariant + "\n" + end.failure.detail)
    if (end.failure && !trace) console.log(end.latest.slice(-25).join("\n"))
  }
})))
process.exit(0)
