/**
 * The peers: each does `steps` jobs for a run, where a job's only work is to queue the next one. As a team would
 * configure them for throughput: ten jobs at a time in one process, and every batching that the package offers.
 */
import { Effect, type Scope } from "effect"
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

export interface Peer {
  readonly name: string
  /** Seconds from the first job of `count` runs to the last job of the last one. */
  readonly run: (count: number, steps: number) => Effect.Effect<number>
}

const concurrency = 10

/** Resolves when `count` runs have ended. */
const countdown = () => {
  let left = 0
  let done: () => void = () => undefined
  return {
    start: (count: number) =>
      new Promise<void>((resolve) => {
        left = count
        done = resolve
      }),
    one: () => {
      left -= 1
      if (left === 0) done()
    }
  }
}

interface Payload {
  readonly run: number
  readonly left: number
}

interface GraphileUtils {
  readonly addJobs: (jobs: ReadonlyArray<{ identifier: string; payload: Payload }>) => Promise<unknown>
  readonly release: () => Promise<void>
}

/** graphile-worker, whose jobs are fetched in batches into a local queue. */
export const graphileWorker = (url: string): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { Logger, makeWorkerUtils, run } = require("graphile-worker") as {
      readonly Logger: new (factory: () => () => void) => unknown
      readonly run: (options: object) => Promise<{ readonly stop: () => Promise<void> }>
      readonly makeWorkerUtils: (options: object) => Promise<GraphileUtils>
    }
    const logger = new Logger(() => () => undefined)
    const ends = countdown()
    const step = async (
      { left, run: number }: Payload,
      { addJob }: { readonly addJob: (name: string, payload: Payload) => Promise<unknown> }
    ) => {
      if (left > 1) await addJob("step", { run: number, left: left - 1 })
      else ends.one()
    }
    yield* Effect.acquireRelease(
      Effect.promise(() =>
        run({
          connectionString: url,
          concurrency,
          pollInterval: 1_000,
          noHandleSignals: true,
          logger,
          taskList: { step },
          preset: {
            worker: { maxPoolSize: concurrency + 2, localQueue: { size: concurrency * 2 }, completeJobBatchDelay: 0 }
          }
        })
      ),
      (runner) => Effect.promise(() => runner.stop())
    )
    const utils = yield* Effect.acquireRelease(
      Effect.promise(() => makeWorkerUtils({ connectionString: url, logger })),
      (made) => Effect.promise(() => made.release())
    )
    return {
      name: "graphile-worker",
      run: (count, steps) =>
        Effect.promise(async () => {
          const start = performance.now()
          const ended = ends.start(count)
          await utils.addJobs(
            Array.from({ length: count }, (_, index) => ({ identifier: "step", payload: { run: index, left: steps } }))
          )
          await ended
          return (performance.now() - start) / 1000
        })
    }
  })

interface Job {
  readonly id: string
  readonly data: Payload
}

interface Boss {
  readonly on: (event: "error", listener: () => void) => unknown
  readonly start: () => Promise<unknown>
  readonly stop: (options: object) => Promise<void>
  readonly createQueue: (name: string) => Promise<void>
  readonly insert: (jobs: ReadonlyArray<{ name: string; data: Payload }>) => Promise<void>
  readonly send: (name: string, data: Payload) => Promise<unknown>
  readonly fetch: (name: string, options: object) => Promise<ReadonlyArray<Job> | null>
  readonly complete: (name: string, ids: ReadonlyArray<string>) => Promise<void>
}

/**
 * pg-boss through its own fetch and complete: its `work` polls twice a second at most, which would measure the wait.
 */
export const pgBoss = (url: string): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const PgBoss = require("pg-boss") as new (options: object) => Boss
    const boss = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const made = new PgBoss({ connectionString: url, max: concurrency + 2, supervise: false, schedule: false })
        // The database goes before its last idle connections do.
        made.on("error", () => undefined)
        await made.start()
        await made.createQueue("step")
        return made
      }),
      (made) => Effect.promise(() => made.stop({ graceful: false, wait: true, timeout: 5_000 }))
    )
    const loop = async (isEnded: () => boolean, ends: ReturnType<typeof countdown>) => {
      while (!isEnded()) {
        for (const { data, id } of (await boss.fetch("step", { batchSize: 1 })) ?? []) {
          if (data.left > 1) await boss.send("step", { run: data.run, left: data.left - 1 })
          await boss.complete("step", [id])
          if (data.left === 1) ends.one()
        }
      }
    }
    return {
      name: "pg-boss",
      run: (count, steps) =>
        Effect.promise(async () => {
          const ends = countdown()
          const start = performance.now()
          let isEnded = false
          const ended = ends.start(count)
          await boss.insert(
            Array.from({ length: count }, (_, index) => ({ name: "step", data: { run: index, left: steps } }))
          )
          const loops = Array.from({ length: concurrency }, () => loop(() => isEnded, ends))
          await ended
          const seconds = (performance.now() - start) / 1000
          isEnded = true
          await Promise.all(loops)
          return seconds
        })
    }
  })
