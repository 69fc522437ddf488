/**
 * This process as one runner of a cluster: which shards of the runs it holds, and how others see that it is gone.
 *
 * Processes need no sockets between them: a message is a row; the holder of its shard polls for it, and is notified
 * when another process has written it. A lock that is lost costs time and nothing else, because every write of a run
 * names the generation under which the run was claimed.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import {
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  SqlRunnerStorage
} from "effect/cluster"
import { SecureRandom } from "effect/crypto"
import { EngineConfig } from "#layers/engine/cluster/EngineConfig.ts"
import { RunMessages } from "#layers/engine/cluster/RunMessages.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"

/** Part of every stored run: must not change while there are runs in flight. */
const shardsPerGroup = 64

/** Pause between polls for messages: a message is notified as well, but a notification may be lost. */
export const PollInterval = Context.Reference("ballast/layers/engine/cluster/PollInterval", {
  defaultValue: () => Duration.millis(250)
})
const refreshInterval = Duration.seconds(1)
/** A runner without a heartbeat for so long has lost its shards. */
const lockExpiration = Duration.seconds(6)
/** A process that ends leaves its runs where they are: the next one goes on with them. */
const entityTerminationTimeout = Duration.millis(500)

const config = Layer.effect(
  ShardingConfig.ShardingConfig,
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    const { maxRunsInFlight } = yield* EngineConfig
    return {
      ...ShardingConfig.defaults,
      // A process that carries out no runs holds no shards, or the runs in them would wait for it.
      assignedShardGroups: maxRunsInFlight === 0 ? [] : ShardingConfig.defaults.assignedShardGroups,
      // A name for this instance of the process; nothing connects to it.
      runnerAddress: Option.some(RunnerAddress.make(yield* random.ulid, 1)),
      shardsPerGroup,
      maxResidentEntities: "unbounded" as const,
      simulateRemoteSerialization: false,
      entityMessagePollInterval: yield* PollInterval,
      refreshAssignmentsInterval: refreshInterval,
      shardLockRefreshInterval: refreshInterval,
      shardLockExpiration: lockExpiration,
      entityTerminationTimeout
    }
  })
)

/**
 * Storage of runners. Before each reply the cluster checks whether a shard is still held: the replies name their
 * generation, so the result of the last refresh is enough for that.
 */
const runnerStorage = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.gen(function* () {
    const storage = yield* RunnerStorage.RunnerStorage
    let held = new Set<string>()
    let checkedAt = -Infinity
    return RunnerStorage.RunnerStorage.of({
      ...storage,
      refresh: (address, shardIds) =>
        Effect.gen(function* () {
          const requested = [...shardIds]
          const now = yield* Clock.currentTimeMillis
          const isKnown =
            requested.length === 1 &&
            now - checkedAt < Duration.toMillis(refreshInterval) * 2 &&
            held.has(requested[0]!.toString())
          if (isKnown) return requested
          const answer = yield* storage.refresh(address, requested)
          if (requested.length > 1) {
            held = new Set(answer.map(String))
            checkedAt = now
          }
          return answer
        })
    })
  })
)

/** The embedded database has one process, which holds every shard. */
const LocksLive = Layer.unwrap(
  Effect.map(DatabaseInfo, ({ apart }) =>
    apart === null
      ? RunnerStorage.layerMemory
      : runnerStorage.pipe(Layer.provide(SqlRunnerStorage.layerWith({ prefix: "workflow" })), Layer.provide(apart))
  )
)

/** Sharding over any storage of runners; it provides the messages as well. */
export const shardsOn = <E, R>(locks: Layer.Layer<RunnerStorage.RunnerStorage, E, R>) =>
  Sharding.layer.pipe(
    Layer.provide([Runners.layerNoop, locks, RunnerHealth.layerNoop]),
    Layer.provideMerge(RunMessages),
    Layer.provide(config)
  )

export const ShardsLive = shardsOn(LocksLive)
