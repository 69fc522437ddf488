/**
 * `npm run outdated`: packages that are behind their registry, each with why it stays (scripts/outdated.json). One
 * without a reason is to be updated, or to be given one.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export interface Reason {
  /** The version that the reason was given for. */
  readonly stays: string
  readonly why: string
}
export type Reasons = Readonly<Record<string, Reason>>

export interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Outdated {
  readonly current?: string
  readonly wanted: string
  readonly latest: string
}

export const reasons: Reasons = JSON.parse(readFileSync(new URL("outdated.json", import.meta.url), "utf8"))

const partsOf = (version: string) => version.split(/[.+-]/u).slice(0, 3).map(Number)

/** A tag `latest` may stand below the version that is used: then nothing is behind. */
const isBehind = (used: string, latest: string) => {
  const [a, b] = [partsOf(used), partsOf(latest)]
  const at = a.findIndex((part, index) => part !== b[index])
  return at !== -1 && a[at]! < b[at]!
}

const unanswered = "npm's registry did not answer, so nothing is known of newer versions. Try again with a network."

const entriesOf = (stdout: string): ReadonlyArray<readonly [string, Outdated]> | undefined => {
  try {
    const answer = JSON.parse(stdout === "" ? "{}" : stdout)
    if ("error" in answer) return undefined
    return Object.entries<Outdated | ReadonlyArray<Outdated>>(answer).map(
      ([name, one]) => [name, Array.isArray(one) ? one[0] : one] as const
    )
  } catch {
    return undefined
  }
}

/** What is printed of npm's answer. npm ends with 1 when something is behind, and also when it reached nobody. */
export const report = ({ code, stderr, stdout }: Answer, why: Reasons): string => {
  const entries = entriesOf(stdout)
  if (entries === undefined || (entries.length === 0 && (code !== 0 || /npm (?:err|error)/iu.test(stderr))))
    return unanswered
  const behind = entries
    .map(([name, { current, latest, wanted }]) => ({ name, used: current ?? wanted, latest }))
    .filter(({ latest, used }) => isBehind(used, latest))
  if (behind.length === 0) return "No package is behind."
  const lines = behind.map(({ latest, name, used }) => {
    const reason = why[name]
    const said =
      reason === undefined
        ? "NO REASON: update it, or say in scripts/outdated.json why it stays."
        : reason.stays === used
          ? reason.why
          : `STALE REASON, given for ${reason.stays}: ${reason.why}`
    return `${name} ${used}, latest ${latest}\n  ${said}`
  })
  return [...lines, `${behind.length} packages are behind.`].join("\n")
}

const ask = () =>
  new Promise<Answer>((resolve) => {
    const options = { maxBuffer: 10_000_000, timeout: 120_000 }
    execFile("npm", ["outdated", "--json", "--fetch-retries=0"], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, stdout, stderr })
    )
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(report(await ask(), reasons))
