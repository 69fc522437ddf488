/**
 * Notifications between processes: a process that writes a message for a shard of another one notifies it, so that it
 * polls at once. They go over the database (LISTEN and NOTIFY), after the message is committed, and never in its
 * transaction: a commit that notifies waits for every other that does.
 *
 * A notification may be lost with the connection of either side. Nothing depends on it: the holder of a shard polls all
 * the same. Whether a silent connection is lost is not known either: it is replaced when nothing was received for as
 * long as a connection may be silent.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Latch, Layer, Queue, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"

const channel = "ballast_runs"

/** Retries after a connection was lost. */
const retries = Schedule.spaced("1 second")

export class RunCalls extends Context.Service<
  RunCalls,
  {
    /** The shards that this process holds from now on. */
    readonly hold: (shards: ReadonlyArray<string>) => void
    /** Notifies the holders of these shards; those of this process are left out. */
    readonly call: (shards: Iterable<string>) => void
    /** Called when a message for a shard of this process has come, and when one may have come unheard. */
    onCall: () => void
  }
>()("ballast/layers/engine/cluster/RunCalls") {
  static readonly layer = Layer.effect(
    RunCalls,
    Effect.gen(function* () {
      const { listening } = yield* DatabaseInfo
      const sql = yield* SqlClient.SqlClient
      const called = new Set<string>()
      const isCalling = yield* Latch.make(false)
      let held: ReadonlySet<string> = new Set()

      const service = RunCalls.of({
        hold: (shards) => {
          held = new Set(shards)
        },
        call: (shards) => {
          if (listening === null) return
          for (const shard of shards) if (!held.has(shard)) called.add(shard)
          if (called.size > 0) isCalling.openUnsafe()
        },
        onCall: () => {}
      })
      // The embedded database has one process, which holds every shard.
      if (listening === null) return service

      const callAll = Effect.gen(function* () {
        yield* isCalling.await
        isCalling.closeUnsafe()
        const shards = [...called].join(" ")
        called.clear()
        yield* Effect.ignore(sql`SELECT pg_notify(${channel}, ${shards})`)
      })

      const receive = Effect.gen(function* () {
        const client = Context.get(yield* Layer.build(Layer.fresh(listening)), PgClient.PgClient)
        const calls = yield* client.listen(channel)
        // Notifications before the connection listened were missed.
        service.onCall()
        const next = Effect.map(Queue.take(calls), ({ payload }) => {
          if (payload.split(" ").some((shard) => held.has(shard))) service.onCall()
        })
        return yield* Effect.forever(next)
      }).pipe(
        Effect.scoped,
        Effect.tapError((error) => Effect.logDebug("Notifications of other processes are not received", error)),
        Effect.retry(retries)
      )

      yield* Effect.forkScoped(Effect.forever(callAll))
      // Closing it calls the server, which may be gone: it is not waited for.
      const receiving = yield* Effect.forkDetach(receive)
      yield* Effect.addFinalizer(() => Effect.sync(() => receiving.interruptUnsafe()))
      return service
    })
  )
}
