/**
 * `npm run signatures`: asks the registry whether it signed what is installed, and for known vulnerabilities of what a
 * deployment has. A registry that cannot answer either, such as a mirror, is said and is no failure; what it does answer
 * is.
 */
import { spawnSync } from "node:child_process"

const checks = [
  { what: "signatures", args: ["audit", "signatures"] },
  { what: "vulnerabilities", args: ["audit", "--omit=dev", "--audit-level=high"] }
]

/** What npm says when the registry has no keys, no such route, or is not there. */
const cannotAnswer =
  /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|E40[0-9]|ENOAUDIT|ENOLOCK|No dependencies found|not support|endpoint returned an error|no signature|ECONNRESET/iu

let isBad = false
for (const { args, what } of checks) {
  const { status, stderr, stdout } = spawnSync("npm", args, { encoding: "utf8" })
  const said = `${stdout}${stderr}`.trim()
  if (status === 0) console.log(`${what}: ${said.split("\n").at(-1)}`)
  else if (cannotAnswer.test(said)) console.log(`${what}: the registry cannot answer: ${said.split("\n")[0]}`)
  else {
    isBad = true
    console.error(`${what}:\n${said}`)
  }
}
process.exit(isBad ? 1 : 0)
