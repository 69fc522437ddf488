import { spawn } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

/** Stands in for npm: notes its call, takes a moment, and leaves what npm leaves. */
const fakeNpm = `
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
appendFileSync("calls", process.argv.slice(2).join(" ") + "\\n")
await new Promise((resolve) => setTimeout(resolve, 300))
if (process.env.NPM_FAILS) process.exit(7)
mkdirSync("node_modules", { recursive: true })
writeFileSync("node_modules/.package-lock.json", "{}")
`

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "ballast-install-"))
  await mkdir(join(root, "scripts"))
  await cp(join(import.meta.dirname, "../../scripts/install.mjs"), join(root, "scripts/install.mjs"))
  await writeFile(join(root, "npm.mjs"), fakeNpm)
  await writeFile(join(root, "package-lock.json"), "first")
})

afterEach(() => rm(root, { recursive: true, force: true }))

const run = (env: Record<string, string> = {}) =>
  new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
    const child = spawn(process.execPath, [join(root, "scripts/install.mjs")], {
      env: { ...process.env, npm_execpath: join(root, "npm.mjs"), ...env }
    })
    let output = ""
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.on("exit", (code) => resolve({ code, output }))
  })

const calls = async () => {
  const text = await readFile(join(root, "calls"), "utf8").catch(() => "")
  return text.split("\n").filter((line) => line !== "")
}

describe("scripts/install.mjs", () => {
  it("installs once, and again when the lock file changes", async () => {
    assert.strictEqual((await run()).code, 0)
    assert.strictEqual((await run()).code, 0)
    assert.deepStrictEqual(await calls(), ["install --no-save --no-audit --no-fund --include=dev --loglevel=error"])
    await writeFile(join(root, "package-lock.json"), "second")
    await run()
    await run()
    assert.strictEqual((await calls()).length, 2)
    assert.strictEqual(await readFile(join(root, "package-lock.json"), "utf8"), "second")
  })

  it("several at the same time install once", async () => {
    const results = await Promise.all([run(), run(), run(), run()])
    assert.deepStrictEqual(
      results.map(({ code }) => code),
      [0, 0, 0, 0]
    )
    assert.strictEqual((await calls()).length, 1)
  })

  it("takes over from one that died", async () => {
    await mkdir(join(root, "node_modules/.ballast-install-turn"), { recursive: true })
    await writeFile(join(root, "node_modules/.ballast-install-turn/owner"), "999999999 gone")
    assert.strictEqual((await run()).code, 0)
    assert.strictEqual((await calls()).length, 1)
  })

  it("trusts an installation by hand that is newer than the lock file", async () => {
    await mkdir(join(root, "node_modules"))
    await writeFile(join(root, "node_modules/.package-lock.json"), "{}")
    await utimes(join(root, "package-lock.json"), 1, 1)
    await run()
    assert.deepStrictEqual(await calls(), [])
  })

  it("says what failed, and tries again the next time", async () => {
    const failed = await run({ NPM_FAILS: "1" })
    assert.strictEqual(failed.code, 1)
    assert.include(failed.output, "npm install ended with code 7")
    assert.strictEqual((await run()).code, 0)
    assert.strictEqual((await calls()).length, 2)
  })
})
