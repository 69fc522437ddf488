/** What this process has claimed and works on right now, and how many more runs it may take. */
import { Context, Duration, Effect, Layer } from "effect"
import type { WorkflowVersions } from "#domain/operation/WorkflowVersion.ts"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"
import type { LocalRun } from "#layers/engine/cluster/LocalRun.ts"
import { versionKey, type ClaimedMessage } from "#layers/sql/run/MessageRows.ts"

export interface Claim extends ClaimedMessage {
  readonly isRun: boolean
  /** Monotonic nanoseconds at which it was claimed. */
  readonly since: bigint
  /** The run, once its body has begun. */
  run: LocalRun | undefined
  /** The cluster has ended its work on the message and will not answer it. */
  isLeft: boolean
}

/** A message that has not begun by then was delivered to an entity that ended at the same moment: it never begins. */
const begunWithin = Duration.toNanosUnsafe("1 minute")

/** What a process carries out, as claims name it. */
export const supportedBy = (versions: ReadonlyMap<string, WorkflowVersions>) => ({
  entityTypes: [...versions.keys()],
  supported: [...versions].flatMap(([entityType, { continues }]) =>
    continues.map((version) => versionKey(entityType, version))
  )
})

export class RunsInFlight extends Context.Service<
  RunsInFlight,
  {
    readonly free: () => number
    /** How many runs are claimed. */
    readonly size: () => number
    readonly add: (claim: Claim) => void
    readonly get: (requestId: string) => Claim | undefined
    /** The claim of a run by its execution. */
    readonly ofExecution: (executionId: string) => Claim | undefined
    readonly remove: (requestId: string) => void
    /** Drops what was claimed of shards that were lost since; answers its request ids. */
    readonly drop: (shards: ReadonlySet<string>) => ReadonlyArray<string>
    /** The request ids of what is claimed of shards. */
    readonly known: (shards: ReadonlySet<string>) => ReadonlyArray<string>
    /** The request ids of claims of shards that nothing works on any more. */
    readonly left: (shards: ReadonlySet<string>, now: bigint) => ReadonlyArray<string>
    /** The request ids of what is claimed of other shards than these. */
    readonly outside: (shards: ReadonlySet<string>) => ReadonlyArray<string>
    /** Types of entities that this process carries out, and which versions of them. */
    readonly versions: Map<string, WorkflowVersions>
    /** Called when a run ends that kept others from beginning. */
    onFree: () => void
  }
>()("ballast/layers/engine/cluster/RunsInFlight") {
  static readonly layer = Layer.effect(
    RunsInFlight,
    Effect.gen(function* () {
      const { maxRunsInFlight } = yield* EngineConfig
      const claims = new Map<string, Claim>()
      const executions = new Map<string, Claim>()

      const remove = (requestId: string) => {
        const claim = claims.get(requestId)
        if (claim === undefined) return
        const wasFull = executions.size >= maxRunsInFlight
        claims.delete(requestId)
        if (claim.isRun && executions.get(claim.entityId) === claim) executions.delete(claim.entityId)
        if (wasFull) service.onFree()
      }

      const of = (shards: ReadonlySet<string>) => [...claims.values()].filter(({ shard }) => shards.has(shard))

      const service = RunsInFlight.of({
        free: () => Math.max(0, maxRunsInFlight - executions.size),
        size: () => executions.size,
        add: (claim) => {
          claims.set(claim.requestId, claim)
          if (claim.isRun) executions.set(claim.entityId, claim)
        },
        get: (requestId) => claims.get(requestId),
        ofExecution: (executionId) => executions.get(executionId),
        remove,
        drop: (shards) => {
          const dropped = service.known(shards)
          for (const requestId of dropped) remove(requestId)
          return dropped
        },
        known: (shards) => of(shards).map(({ requestId }) => requestId),
        left: (shards, now) =>
          of(shards)
            .filter(({ isLeft, run, since }) => isLeft || (run === undefined && now - since > begunWithin))
            .map(({ requestId }) => requestId),
        outside: (shards) =>
          [...claims.values()].filter(({ shard }) => !shards.has(shard)).map(({ requestId }) => requestId),
        versions: new Map(),
        onFree: () => {}
      })
      return service
    })
  )
}
