/**
 * PgBouncer itself, in transaction mode, in a temporary folder and on a port of its own; undefined where it is not
 * installed.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { freePort } from "#sandbox/process/freePort.ts"

/** Debian puts it into a folder of root's PATH alone. */
const program = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(":")]
  .map((folder) => join(folder, "pgbouncer"))
  .find((path) => existsSync(path))

/** It refuses to run as root. */
const nobody = 65_534
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

const startTimeoutPolls = 200

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    }).on("error", () => resolve(false))
  })

/** Writes the settings. Any user is let in; the one that connects to the server is named by the database's line. */
const settings = (target: URL, port: number, sessions: number) => `
[databases]
* = host=${target.hostname} port=${target.port || "5432"} user=${target.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
`

const make = (path: string) =>
  Effect.fnUntraced(function* (url: string, sessions: number) {
    const target = new URL(url)
    const folder = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const made = await mkdtemp(join(tmpdir(), "ballast-pgbouncer-"))
        if (user.uid !== undefined) await chown(made, user.uid, user.gid)
        return made
      }),
      (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
    )
    const port = yield* Effect.orDie(freePort)
    const configuration = join(folder, "pgbouncer.ini")
    yield* Effect.promise(() => writeFile(configuration, settings(target, port, sessions)))
    yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const child = spawn(path, ["--quiet", configuration], { ...user, stdio: "ignore", cwd: tmpdir() })
        const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
        for (let polls = 0; !(await answers(port)); polls++) {
          if (child.exitCode !== null || polls === startTimeoutPolls) {
            child.kill("SIGKILL")
            throw new Error(`PgBouncer did not start on port ${port}: it ended with ${child.exitCode}`)
          }
          await wait(50)
        }
        return { child, ended }
      }),
      ({ child, ended }) =>
        Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
    )
    return { port }
  })

/** A pooler with at most so many sessions of the URL's server for each database; it ends with the scope. */
export const pgBouncer = program === undefined ? undefined : make(program)
