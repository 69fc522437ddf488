import { Effect } from "effect"
import { mkdir, rename, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/**
 * Writes a file that only its owner may read, so that a reader sees the old content or the new one and never a part.
 *
 * One writer a path at a time: the draft has a fixed name, so that one cut short is overwritten and not left behind.
 */
export const replaceFile = (path: string, content: string | Uint8Array): Effect.Effect<void, SandboxFailure> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const draft = `${path}.draft`
      await writeFile(draft, content, { mode: 0o600 })
      await rename(draft, path)
    },
    catch: (cause) =>
      new SandboxFailure({
        message: `Could not write ${path}. Check that the disk has room and DATA_DIR is yours`,
        cause
      })
  })
