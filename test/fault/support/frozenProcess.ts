/**
 * An engine that stands still (SIGSTOP) at its first poll for a receipt, as a machine does that was suspended. When it
 * goes on, it reads that the chain reverted the batch. Configured by its environment; says over Node's
 * IPC channel how often it has gone on.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Context, Effect, Layer, Option } from "effect"
import { instant, noChain } from "#bench/engine/noChain.ts"
import { benchSettings } from "#bench/engine/settings.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

let polls = 0
let wentOn = 0

const Chains = Layer.effectContext(
  Effect.map(Layer.build(noChain(instant)), (context) =>
    Context.add(context, ActionReceipts, {
      find: ({ actionHash, txHash }) =>
        Effect.sync(() => {
          polls += 1
          if (polls === 1) process.kill(process.pid, "SIGSTOP")
          wentOn += 1
          return Option.some({
            actionHash,
            txHash,
            blockNumber: 2n,
            blockHash: `0x${"1".repeat(64)}`,
            success: false,
            gasUsed: 1n,
            deltas: []
          })
        })
    })
  )
)

const Engine = SchedulerLive.pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(Chains),
  Layer.provideMerge(SqlLive),
  Layer.provideMerge(databaseLayer(process.env["ENGINE_DATABASE_URL"]!)),
  Layer.provideMerge(benchSettings()),
  Layer.provideMerge(NodeCrypto.layer)
)

const stop = new AbortController()
process.once("SIGTERM", () => stop.abort()).once("disconnect", () => stop.abort())

const live = Effect.gen(function* () {
  yield* Layer.build(Engine)
  process.on("message", () => process.send?.({ polls, wentOn }))
  yield* Effect.never
}).pipe(Effect.scoped)

await Effect.runPromise(live, { signal: stop.signal }).catch(() => undefined)
process.exit(0)
