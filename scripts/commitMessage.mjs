/**
 * The rule of commit messages: `node scripts/commitMessage.mjs <file>` ends with 1 and says what is wrong.
 * `.githooks/commit-msg` runs it under whichever Node there is.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const longestSubject = 72
/** What git adds or drops by itself says no why. */
const trailer = /^[A-Z][\w-]*(?:-by)?: \S/u

/** Git drops lines that begin with `#`, and everything below its scissors. */
const withoutComments = (text) =>
  text
    .replace(/^# -+ >8 -+[\s\S]*$/mu, "")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.trimEnd())

/** What is wrong with a message; an empty list says that nothing is. */
export const faultsOf = (text) => {
  const lines = withoutComments(text)
  const first = lines.findIndex((line) => line !== "")
  if (first === -1) return ["the message is empty"]
  const [subject, second, ...rest] = lines.slice(first)
  // A merge, and what `git rebase --autosquash` takes away, have no message of their own.
  if (/^(?:Merge|fixup!|squash!|amend!) /u.test(subject)) return []
  const length = [...subject].length
  const body = rest.filter((line) => line !== "" && !trailer.test(line)).join(" ")
  return [
    ...(length > longestSubject ? [`the subject has ${length} characters; ${longestSubject} are the most`] : []),
    ...(second !== undefined && second !== "" ? ["an empty line parts the subject from the body"] : []),
    ...(body.split(/\s+/u).filter((word) => word !== "").length < 5 ? ["a body says why, in five words or more"] : [])
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = faultsOf(readFileSync(process.argv[2], "utf8"))
  for (const fault of faults) console.error(`commit message: ${fault}`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
