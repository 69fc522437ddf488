/**
 * The locks on shards that the processes of a simulation share: they expire by its time, as those of a server do.
 */
import { Clock, Effect, Layer } from "effect"
import { MachineId, type Runner, RunnerStorage, type ShardId } from "effect/cluster"

const expiresAfterMs = 6_000

interface Entry {
  readonly runner: Runner.Runner
  readonly machineId: number
  seenAt: number
}

export class Locks {
  readonly #runners = new Map<string, Entry>()
  readonly #holders = new Map<string, string>()
  #machines = 0

  readonly layer = Layer.sync(RunnerStorage.RunnerStorage, () => this.#storage())

  #alive(address: string | undefined, now: number): boolean {
    const entry = address === undefined ? undefined : this.#runners.get(address)
    return entry !== undefined && now - entry.seenAt < expiresAfterMs
  }

  #storage(): RunnerStorage.RunnerStorage["Service"] {
    const atNow = <A>(work: (now: number) => A) => Effect.map(Clock.currentTimeMillis, work)
    const held = (address: string, shards: Iterable<ShardId.ShardId>) =>
      [...shards].filter((shard) => this.#holders.get(String(shard)) === address)

    return RunnerStorage.RunnerStorage.of({
      register: (runner) =>
        atNow((seenAt) => {
          const machineId = ++this.#machines
          this.#runners.set(String(runner.address), { runner, machineId, seenAt })
          return MachineId.make(machineId)
        }),
      unregister: (address) => Effect.sync(() => void this.#runners.delete(String(address))),
      getRunners: atNow((now) =>
        [...this.#runners]
          .filter(([address]) => this.#alive(address, now))
          .map(([, { runner }]): [Runner.Runner, boolean] => [runner, true])
      ),
      setRunnerHealth: () => Effect.void,
      acquire: (address, shards) =>
        atNow((now) => {
          const wanted = [...shards]
          for (const shard of wanted)
            if (!this.#alive(this.#holders.get(String(shard)), now)) this.#holders.set(String(shard), String(address))
          return held(String(address), wanted)
        }),
      refresh: (address, shards) =>
        atNow((now) => {
          const entry = this.#runners.get(String(address))
          // What expired is lost, whether or not somebody else has taken it since.
          if (!this.#alive(String(address), now))
            for (const shard of held(String(address), shards)) this.#holders.delete(String(shard))
          if (entry !== undefined) entry.seenAt = now
          return held(String(address), shards)
        }),
      release: (address, shard) =>
        Effect.sync(() => {
          if (this.#holders.get(String(shard)) === String(address)) this.#holders.delete(String(shard))
        }),
      releaseAll: (address) =>
        Effect.sync(() => {
          for (const [shard, holder] of this.#holders) if (holder === String(address)) this.#holders.delete(shard)
        })
    })
  }
}
