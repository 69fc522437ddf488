import { Effect } from "effect"
import { setTimeout as wait } from "node:timers/promises"
import type { OwnedProcess } from "#sandbox/process/ownedProcess.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** A slow machine may take a minute to make a database and load three programs at once; one that takes longer hangs. */
const limitMillis = 240_000
const probeMillis = 50
const probeLimitMillis = 2_000

/** Waits, in real time, until a process answers 200 on a URL. Fails when it ends before that, or after four minutes. */
export const untilReady = (url: string, process: OwnedProcess): Effect.Effect<void, SandboxFailure> =>
  Effect.tryPromise({
    try: async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMillis)])
      while (!limit.aborted) {
        if (!process.isRunning()) throw new Error(`the process ended with ${await process.ended}`)
        const status = await fetch(url, {
          signal: AbortSignal.any([limit, AbortSignal.timeout(probeLimitMillis)])
        }).then(
          async (response) => {
            await response.body?.cancel()
            return response.status
          },
          () => undefined
        )
        // Another program may answer on the port while ours fails to get it.
        if (status === 200 && process.isRunning()) return
        await wait(probeMillis)
      }
      throw new Error(`${url} did not answer 200 within ${limitMillis / 1000} seconds`)
    },
    catch: (cause) => new SandboxFailure({ message: cause instanceof Error ? cause.message : String(cause) })
  })
