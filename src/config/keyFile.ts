/** A private key from a file that its owner alone may read. */
import { Effect, Redacted } from "effect"
import { readFileSync, statSync } from "node:fs"
import { registerSecret } from "#src/config/secretTexts.ts"
import type { Setting } from "#src/config/Setting.ts"

const privateKey = /^0x(?!0{64})[0-9a-fA-F]{64}$/u

/** What a file must hold. */
interface KeyForm {
  readonly isKey: (text: string) => boolean
  readonly expected: string
}

/** Permissions of users other than the owner. */
const othersMask = 0o077

/** Reads an EVM key from the file that the variable names. */
export const keyFile = (name: string, path: string): Setting<Redacted.Redacted> =>
  fileText(name, path, {
    isKey: (text) => privateKey.test(text),
    expected: "a private key as 0x and 64 hex digits"
  })

/** Reads the file that the variable names. What is wrong with it never shows what is in it. */
export const fileText = (name: string, path: string, { expected, isKey }: KeyForm): Setting<Redacted.Redacted> =>
  Effect.suspend(() => {
    const problem = (text: string) => Effect.fail([`${name}: ${text}`])
    try {
      const { mode } = statSync(path)
      if ((mode & othersMask) !== 0)
        return problem(
          `${path} may be read by others than its owner (mode ${(mode & 0o777).toString(8)}); run chmod 600 ${path}`
        )
      const key = readFileSync(path, "utf8").trim()
      return isKey(key)
        ? Effect.as(registerSecret(key), Redacted.make(key))
        : problem(`${path} does not hold ${expected}`)
    } catch {
      return problem(`${path} cannot be read; is it there, and this user's?`)
    }
  })
