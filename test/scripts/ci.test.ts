/** `.ci/run` says what its parts say: it never ends well when one of them did not. */
import { execFile } from "node:child_process"
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

interface Report {
  readonly passed?: number
  readonly failed?: number
  /** Files that failed before any of their tests ran. */
  readonly broken?: number
}

const assertions = (count: number, status: string) => Array.from({ length: count }, () => ({ status }))

const reportOf = ({ broken = 0, failed = 0, passed = 0 }: Report) =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [
      {
        status: failed === 0 ? "passed" : "failed",
        assertionResults: [...assertions(passed, "passed"), ...assertions(failed, "failed")]
      },
      ...Array.from({ length: broken }, () => ({ status: "failed", assertionResults: [] }))
    ]
  })

/** Stands in for npm: writes the report prepared for a script, if there is one, and ends as prepared. */
const fakeNpm = `#!/usr/bin/env bash
script=$1; [ "$1" = run ] && script=$2; [ "$2" = --silent ] && script=$3
echo "$script \${TEST_DATABASE_URL:-no server}" >> calls
for argument in "$@"; do
  case $argument in --outputFile.json=*) [ -f "$script.json" ] && cp "$script.json" "\${argument#*=}" ;; esac
done
exit "$(cat "$script.code" 2>/dev/null || echo 0)"
`

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "ballast-ci-"))
  await mkdir(join(root, ".ci"))
  await cp(join(import.meta.dirname, "../../.ci/run"), join(root, ".ci/run"))
  await mkdir(join(root, "bin"))
  await writeFile(join(root, "bin/npm"), fakeNpm)
  await chmod(join(root, "bin/npm"), 0o755)
  await prepare("test", { passed: 3 })
  await prepare("test:long", { passed: 2 })
})

afterEach(() => rm(root, { recursive: true, force: true }))

const prepare = (script: string, report: Report) => writeFile(join(root, `${script}.json`), reportOf(report))
const endsWith = (script: string, code: number) => writeFile(join(root, `${script}.code`), `${code}`)

const run = () =>
  new Promise<{ readonly isGreen: boolean; readonly last: string; readonly output: string }>((resolve) => {
    const env = { ...process.env, PATH: `${join(root, "bin")}:${process.env["PATH"]}`, TEST_DATABASE_URL: "a server" }
    execFile(join(root, ".ci/run"), { env }, (error, output) => {
      resolve({ isGreen: error === null, last: output.trimEnd().split("\n").at(-1) ?? "", output })
    })
  })

describe(".ci/run", () => {
  it("counts tests, long tests, types and lint in its last line", async () => {
    const { isGreen, last } = await run()
    assert.isTrue(isGreen)
    assert.strictEqual(last, "7 passed, 0 failed")
  })

  it.each(["test", "test:long"])("counts what fails in npm run %s", async (script) => {
    const { last: before } = await run()
    assert.include(before, " 0 failed")
    await prepare(script, { passed: 1, failed: 2, broken: 1 })
    await endsWith(script, 1)
    const { isGreen, last } = await run()
    assert.isFalse(isGreen)
    assert.match(last, /^\d passed, 3 failed$/u)
  })

  it.each([
    ["ends with an error that no test explains", { passed: 3 }, 1],
    ["cannot load a file, and ends well", { passed: 3, broken: 1 }, 0],
    ["runs no test, and ends well", {}, 0]
  ])("fails when a suite %s", async (_, report, code) => {
    await prepare("test:long", report)
    await endsWith("test:long", code)
    const { isGreen, last } = await run()
    assert.isFalse(isGreen)
    assert.match(last, /, 1 failed$/u)
  })

  it("fails when a suite ends well without a report, also when the suite before it left one", async () => {
    await rm(join(root, "test:long.json"))
    const { isGreen, last } = await run()
    assert.isFalse(isGreen)
    assert.strictEqual(last, "5 passed, 1 failed")
  })

  it.each(["check", "lint"])("fails when npm run %s fails", async (script) => {
    await endsWith(script, 2)
    const { isGreen, last, output } = await run()
    assert.isFalse(isGreen)
    assert.strictEqual(last, "6 passed, 1 failed")
    assert.include(output, `npm run ${script} failed`)
  })
})
