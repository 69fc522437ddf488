/**
 * The engine and its scheduler as a process, over chains that are not there: what `failover` and the fault test start
 * several of and kill. Configured by its environment; says "ready" over Node's IPC channel to whoever asks.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { noChain } from "#bench/engine/noChain.ts"
import { benchSettings } from "#bench/engine/settings.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

const { DELAY_MS, ENGINE_DATABASE_URL, MAX_RUNS, STALLS } = process.env

const Chains = Layer.unwrap(
  Effect.map(SqlClient.SqlClient, (sql) =>
    noChain({
      delayMs: Number(DELAY_MS),
      stalls: STALLS === "true",
      onBroadcast: (actionHash) => Effect.orDie(sql`INSERT INTO broadcasts (action_hash) VALUES (${actionHash})`)
    })
  )
)

const Engine = SchedulerLive.pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(Chains),
  Layer.provideMerge(SqlLive),
  Layer.provideMerge(databaseLayer(ENGINE_DATABASE_URL!)),
  Layer.provideMerge(benchSettings(Number(MAX_RUNS))),
  Layer.provideMerge(NodeCrypto.layer)
)

const stop = new AbortController()
process.once("SIGTERM", () => stop.abort()).once("disconnect", () => stop.abort())

const live = Effect.gen(function* () {
  yield* Layer.build(Engine)
  process.on("message", () => process.send?.("ready"))
  yield* Effect.never
}).pipe(Effect.scoped)

await Effect.runPromise(live, { signal: stop.signal }).catch(() => undefined)
process.exit(0)
