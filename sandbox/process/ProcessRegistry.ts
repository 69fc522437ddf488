/**
 * The processes of a sandbox, recorded in its folder, so that the next start can end what a killed supervisor left.
 *
 * A process id alone proves nothing: ids are used again. A record also holds the process's start time as the kernel
 * reports it; where that cannot be read (no /proc), nothing is ever ended.
 */
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { replaceFile } from "#sandbox/replaceFile.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

const Entry = Schema.Struct({ role: Schema.String, pid: Schema.Int, startedAt: Schema.String })
type Entry = typeof Entry.Type
const Stored = Schema.fromJsonString(Schema.Array(Entry))

const supervisor = "supervisor"
const goneLimitMillis = 30_000

/**
 * True when nothing of a zombie runs any more. A process of several threads shows as a zombie as soon as its first
 * thread has ended, while the others still hold its sockets and files.
 */
const isLastThread = async (pid: number) => (await readdir(`/proc/${pid}/task`).catch(() => [])).length <= 1

/**
 * Clock ticks from the machine's start to the process's (field 22 of proc(5) stat). Undefined when it is gone, which a
 * zombie without threads is: it holds nothing any more, and a container without an init process may never take it away.
 */
const startTime = async (pid: number): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
  if (stat === undefined) return undefined
  // The second field is the command in parentheses and may hold spaces; the state is the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return fields[0] === "Z" && (await isLastThread(pid)) ? undefined : fields[19]
}

const isAlive = async (entry: Entry) => (await startTime(entry.pid)) === entry.startedAt

const end = async (entry: Entry) => {
  if (!(await isAlive(entry))) return
  process.kill(entry.pid, "SIGKILL")
  for (let waited = 0; waited < goneLimitMillis; waited += 20) {
    if (!(await isAlive(entry))) return
    await wait(20)
  }
  throw new Error(`${entry.role} (process ${entry.pid}) still runs ${goneLimitMillis / 1_000} seconds after SIGKILL`)
}

/** Files and folders that a world keeps in DATA_DIR. */
const worldContent = ["world.json", "world.json.draft", "processes.json.draft", "chains", "service", "logs"]

/** The processes of this world. Building the layer takes the folder: it fails while another supervisor runs on it. */
export class ProcessRegistry extends Context.Service<
  ProcessRegistry,
  {
    /** Remembers a process under its role; the role's earlier process is forgotten. */
    readonly record: (role: string, pid: number) => Effect.Effect<void, SandboxFailure>
  }
>()("ballast/sandbox/process/ProcessRegistry") {
  /** Layer of the registry. With `reset`, the content is removed once the folder is ours. */
  static readonly layer = (reset: boolean) =>
    Layer.effect(
      ProcessRegistry,
      Effect.gen(function* () {
        const { dataDir } = yield* WorldConfig
        const path = join(dataDir, "processes.json")
        yield* takeOver(path, dataDir)
        if (reset) yield* clear(dataDir)

        const entries = new Map<string, Entry>()
        const writing = yield* Semaphore.make(1)
        const record = Effect.fn("ProcessRegistry.record")(function* (role: string, pid: number) {
          const startedAt = yield* Effect.promise(() => startTime(pid))
          if (startedAt === undefined) return
          entries.set(role, { role, pid, startedAt })
          yield* replaceFile(path, yield* Schema.encodeEffect(Stored)([...entries.values()]).pipe(Effect.orDie))
        }, Semaphore.withPermit(writing))
        yield* record(supervisor, process.pid)
        return ProcessRegistry.of({ record })
      })
    )
}

const takeOver = (path: string, dataDir: string) =>
  Effect.gen(function* () {
    const text = yield* Effect.promise(() => readFile(path, "utf8").catch(() => "[]"))
    // A file that was cut short names nobody we could prove to be ours.
    const entries = yield* Schema.decodeEffect(Stored)(text).pipe(Effect.orElseSucceed((): ReadonlyArray<Entry> => []))
    const owner = entries.find((entry) => entry.role === supervisor)
    if (owner !== undefined && owner.pid !== process.pid && (yield* Effect.promise(() => isAlive(owner)))) {
      return yield* new SandboxFailure({
        message: `Another sandbox (process ${owner.pid}) runs on ${dataDir}. Stop it, or set DATA_DIR and the ports to start a second one`
      })
    }
    yield* Effect.tryPromise({
      try: () => Promise.all(entries.filter((entry) => entry.role !== supervisor).map(end)),
      catch: (cause) =>
        new SandboxFailure({
          message: `Processes of an earlier sandbox on ${dataDir} could not be ended. They are listed in ${path}`,
          cause
        })
    })
  })

const clear = (dataDir: string) =>
  Effect.tryPromise({
    try: () => Promise.all(worldContent.map((name) => rm(join(dataDir, name), { recursive: true, force: true }))),
    catch: (cause) => new SandboxFailure({ message: `The sandbox in ${dataDir} could not be removed`, cause })
  })
