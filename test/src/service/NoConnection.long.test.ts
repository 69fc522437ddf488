/** The API as a process, started by a role that may have too few connections. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { complete } from "#test/src/environments.ts"
import { limitedRole } from "#test/fault/support/limitedRole.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const program = fileURLToPath(new URL("../../../src/Api.ts", import.meta.url))

/** What the process says until it ends, and how it does. */
const started = (environment: Readonly<Record<string, string>>) =>
  Effect.callback<{ readonly code: unknown; readonly said: string }>((resume) => {
    const { PATH = "" } = process.env
    const options = { env: { PATH, ...environment }, timeout: patienceMillis }
    const child = execFile(process.execPath, [program], options, (error, out, err) =>
      resume(Effect.succeed({ code: error?.code ?? 0, said: `${out}${err}` }))
    )
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

describe("a start by a role whose connections do not suffice", () => {
  if (limitedRole === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newRole = limitedRole

  it.live("ends with one sentence and nothing before it, for each limit below what the process needs", () =>
    Effect.gen(function* () {
      const { setLimit, url } = yield* newRole
      for (const limit of [3, 4, 5, 13]) {
        yield* setLimit(limit)
        const { code, said } = yield* started({ ...complete, DATABASE_URL: url.href })
        assert.strictEqual(
          said,
          `The database at ${url.host}${url.pathname} gave no connection: too many connections for role ` +
            `"${url.username}". A process needs 14 connections, DATABASE_POOL (10) and 4 more: raise max_connections ` +
            "of the server, or the connection limit of the role or the database, or lower DATABASE_POOL\n",
          `a limit of ${limit}`
        )
        assert.strictEqual(code, 1)
      }
    }).pipe(Effect.scoped)
  )
})
