/** Engines for tests of the run engine: each carries out one workflow, and its runs are waited for. */
import { Context, DateTime, Effect, Exit, Layer, Schedule, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { DurableDeferred, Workflow, WorkflowEngine } from "effect/workflow"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"
import { RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { WorkflowRuntime } from "#layers/engine/WorkflowRuntime.ts"
import { testSettings } from "#test/support/settings.ts"
import { patience } from "#test/support/suite/patience.ts"

/** How many shards effect/cluster has unless it is configured. */
const shards = 64

/** The shard of an entity, as effect/cluster computes it. */
const shardOf = (entityId: string): string => {
  let hash = 5_381
  for (let index = entityId.length; index > 0; index--) hash = (hash * 33) ^ entityId.charCodeAt(index - 1)
  hash = (hash & 0xbfffffff) | ((hash >>> 1) & 0x40000000)
  return `default:${Math.abs(hash % shards) + 1}`
}

export const makeWorkflow = (name: string) =>
  Workflow.make(name, { payload: { key: Schema.String }, success: Schema.Void, idempotencyKey: ({ key }) => key })

type TestWorkflow = ReturnType<typeof makeWorkflow>

/** An engine that carries out one workflow, until its scope is closed. */
export const startEngine = Effect.fnUntraced(function* <R>(
  workflow: TestWorkflow,
  body: (key: string) => Effect.Effect<void, never, R>,
  maxRunsInFlight = 64
) {
  const scope = yield* Scope.make()
  const layer = workflow
    .toLayer(({ key }) => body(key))
    .pipe(
      Layer.provideMerge(WorkflowRuntime),
      Layer.provide(Layer.succeed(EngineConfig, { ...testSettings.engine, maxRunsInFlight }))
    )
  const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
  const engine = Context.get(context, WorkflowEngine.WorkflowEngine)
  const launch = (key: string) =>
    Effect.provideService(workflow.execute({ key }, { discard: true }), WorkflowEngine.WorkflowEngine, engine)
  /** Sends a run a signal that it does not wait for. */
  const signal = Effect.fnUntraced(
    function* (key: string) {
      const deferred = DurableDeferred.make("signal")
      const token = yield* DurableDeferred.tokenFromPayload(deferred, { workflow, payload: { key } })
      yield* DurableDeferred.succeed(deferred, { token, value: undefined })
    },
    Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
  )
  const runs = Context.get(context, RunsInFlight)
  return { launch, signal, stop: Scope.close(scope, Exit.void), runs }
})

export const unfinished = (workflow: TestWorkflow) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`SELECT 1 FROM workflow_messages WHERE entity_type = ${`Workflow/${workflow._tag}`} AND finished_at IS NULL`
  )

export const allFinished = (workflow: TestWorkflow) =>
  unfinished(workflow).pipe(
    Effect.filterOrFail((rows) => rows.length === 0),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience)
  )

interface StoredRun {
  readonly id: number
  readonly workflow: string
  readonly execution: string
  readonly key: string
  /** Payload of the workflow; the key, as tests of the engine have it. */
  readonly payload?: object
  readonly isClaimed?: boolean
  /** Time at which it wakes; now. */
  readonly wakeAt?: Date
  readonly finishedAt?: Date
  /** How often it has begun since its last step. */
  readonly tries?: number
}

/** A run as another process leaves it, claimed once. */
export const insertRun = (run: StoredRun) =>
  Effect.gen(function* () {
    const { execution, finishedAt, id, isClaimed = false, key, payload = { key }, tries = 1, wakeAt, workflow } = run
    const sql = yield* SqlClient.SqlClient
    const shard = shardOf(execution)
    const at = yield* DateTime.nowAsDate
    yield* sql`
      INSERT INTO workflow_messages (request_id, key, shard, entity_type, entity_id, tag, version, envelope,
        created_at, wake_at, is_claimed, generation, tries, finished_at)
      VALUES (${id}, ${`Workflow/${workflow}/${execution}/run/`}, ${shard}, ${`Workflow/${workflow}`}, ${execution},
        'run', 1, ${JSON.stringify({ payload, headers: {} })}, ${at}, ${wakeAt ?? at}, ${isClaimed}, 1, ${tries},
        ${finishedAt ?? null})`
  })
