/** What the workers of the deployment say of themselves, each until it is silent for a while. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { Backplane } from "#domain/stream/Backplane.ts"
import type { StreamAssetKey } from "#domain/stream/Topic.ts"
import { ProviderStatus } from "#domain/stream/WorkerStatus.ts"
import { follow } from "#stream/follow.ts"

/** A worker that has not announced itself for this long has gone. */
const silence = 5_000
/** Most workers that are listened to. */
const maxWorkers = 256

const WorkerReport = Schema.Struct({
  wanted: Schema.Array(Schema.String),
  topics: Schema.Array(Schema.Struct({ topic: Schema.String, clients: Schema.Int })),
  /** URL of the worker that holds the lease. */
  providers: Schema.NullOr(Schema.Array(ProviderStatus))
})
export type WorkerReport = typeof WorkerReport.Type

const Report = Schema.fromJsonString(WorkerReport)
const decode = Schema.decodeUnknownOption(Report)
const encode = Schema.encodeSync(Report)

export class Workers extends Context.Service<
  Workers,
  {
    readonly announce: (report: WorkerReport) => Effect.Effect<void>
    /** What clients follow on any worker. */
    readonly wanted: () => ReadonlySet<StreamAssetKey>
    /** Sockets of each topic, on all workers. */
    readonly clients: () => ReadonlyMap<string, number>
    /** The providers, by the worker that holds the lease. */
    readonly providers: () => ReadonlyArray<ProviderStatus>
  }
>()("ballast/stream/Workers") {
  static readonly layer = Layer.effect(
    Workers,
    Effect.gen(function* () {
      const backplane = yield* Backplane
      const clock = yield* Clock.Clock
      const reports = new Map<string, { readonly report: WorkerReport; readonly at: number }>()
      const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

      const record = (workerId: string, value: string) => {
        const report = decode(value)
        if (report._tag === "None" || (!reports.has(workerId) && reports.size >= maxWorkers)) return
        reports.set(workerId, { report: report.value, at: now() })
      }
      const current = () => {
        for (const [workerId, { at }] of reports) if (now() - at > silence) reports.delete(workerId)
        return [...reports.values()].map(({ report }) => report)
      }

      yield* follow(backplane.announced, ({ value, workerId }) => Effect.sync(() => record(workerId, value)), {
        complaint: "Announcements of other workers could not be read",
        level: "Debug"
      })

      return Workers.of({
        announce: (report) => {
          const value = encode(report)
          // Recorded here immediately, so that a worker that is cut off still has what its own clients follow.
          record(backplane.workerId, value)
          return Effect.ignore(backplane.announce(value))
        },
        wanted: () => new Set(current().flatMap(({ wanted }) => wanted as ReadonlyArray<StreamAssetKey>)),
        clients: () => {
          const counts = new Map<string, number>()
          for (const { clients, topic } of current().flatMap(({ topics }) => topics)) {
            counts.set(topic, (counts.get(topic) ?? 0) + clients)
          }
          return counts
        },
        providers: () => current().flatMap(({ providers }) => providers ?? [])
      })
    })
  )
}
