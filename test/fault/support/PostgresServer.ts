/**
 * PostgreSQL servers of a test's own, in temporary folders and on ports of their own: to be killed, restarted, and
 * replaced by a copy. Undefined where the programs are not installed.
 */
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { appendFile, chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { promisify } from "node:util"
import { freePort } from "#sandbox/process/freePort.ts"

const installations = "/usr/lib/postgresql"

/** Where `initdb` and the server are, by PATH or where Debian puts them. */
const findPrograms = (): string | undefined => {
  const versions = existsSync(installations) ? readdirSync(installations) : []
  const folders = [
    ...versions.map((version) => join(installations, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":")
  ]
  return folders.find((folder) =>
    ["initdb", "postgres", "pg_basebackup", "pg_ctl", "pg_isready", "psql"].every((name) =>
      existsSync(join(folder, name))
    )
  )
}

const programs = findPrograms()

/** The server refuses to run as root. */
const nobody = 65_534
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

const execute = promisify(execFile)

const run = (name: string, args: ReadonlyArray<string>) =>
  execute(join(programs!, name), [...args], { ...user, cwd: tmpdir() })

/** Runs a script as the servers' user, who finds the programs of PostgreSQL first; fails when the script does. */
export const serverShell = (script: string, environment: Readonly<Record<string, string>>) =>
  execute("sh", ["-euc", script], {
    ...user,
    cwd: tmpdir(),
    env: { ...process.env, PATH: `${programs}:${process.env["PATH"]}`, ...environment }
  })

const isReady = (port: number) =>
  run("pg_isready", ["-h", "127.0.0.1", "-p", `${port}`]).then(
    () => true,
    () => false
  )

const startTimeoutPolls = 600

const ownSettings = `
fsync = off
listen_addresses = '127.0.0.1'
max_connections = 60
wal_keep_size = 1GB
unix_socket_directories = ''
`

export interface PostgresServer {
  /** Folder of the servers' user, removed with the server. */
  readonly folder: string
  readonly port: number
  readonly url: string
  /** Ends it at once, as a crash does; whoever it serves sees a broken connection. */
  readonly crash: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Copies what is committed now, once. */
  readonly copy: Effect.Effect<void>
  /**
   * Starts the copy in its place, at the same address, once it has crashed: with what was committed up to a position of
   * its log, and nothing later, as a replica is that followed so far.
   */
  readonly startCopyAt: (position: string) => Effect.Effect<void>
}

const make = Effect.fnUntraced(function* (settings: (folder: string) => string) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made = await mkdtemp(join(tmpdir(), "ballast-postgres-"))
      if (user.uid !== undefined) await chown(made, user.uid, user.gid)
      return made
    }),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true, maxRetries: 5 }))
  )
  const port = yield* Effect.orDie(freePort)
  let data = join(folder, "data")
  let child: ReturnType<typeof spawn> | undefined

  const crash = Effect.promise(async () => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once("exit", resolve))
    // Immediate shutdown: nothing is written any more, and what it serves is cut off.
    running.kill("SIGQUIT")
    await ended
  })

  const start = Effect.promise(async () => {
    child = spawn(join(programs!, "postgres"), ["-D", data, "-p", `${port}`], {
      ...user,
      stdio: "ignore",
      cwd: tmpdir()
    })
    for (let polls = 0; !(await isReady(port)); polls++) {
      if (polls === startTimeoutPolls) throw new Error(`PostgreSQL did not start in ${data}`)
      await wait(50)
    }
  })

  const follower = join(folder, "copy")
  const copy = Effect.promise(async () => {
    const from = ["-h", "127.0.0.1", "-p", `${port}`, "-U", "postgres"]
    await run("pg_basebackup", [...from, "-D", follower, "-X", "stream", "-c", "fast", "--no-sync"])
  })

  const startCopyAt = (position: string) =>
    Effect.promise(async () => {
      const log = join(data, "pg_wal")
      await appendFile(
        join(follower, "postgresql.conf"),
        `
hot_standby = off
restore_command = 'cp "${log}/%f" "%p"'
recovery_target_lsn = '${position}'
recovery_target_action = 'promote'
`
      )
      await writeFile(join(follower, "recovery.signal"), "")
      if (user.uid !== undefined) await chown(join(follower, "recovery.signal"), user.uid, user.gid)
      data = follower
    }).pipe(Effect.andThen(start))

  yield* Effect.promise(async () => {
    await run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"])
    await appendFile(join(data, "postgresql.conf"), ownSettings + settings(folder))
  })
  yield* Effect.acquireRelease(start, () => crash)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const server: PostgresServer = { folder, port, url, crash, start, copy, startCopyAt }
  return server
})

/** A new server that ends with the scope; its database `postgres` is empty. */
export const postgresServer = programs === undefined ? undefined : make(() => "")

/** Starts a server with lines of postgresql.conf, given its folder. */
export const postgresServerWith = programs === undefined ? undefined : make
