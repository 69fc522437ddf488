/** What `npm ci --omit=dev --ignore-scripts` makes in an empty folder starts, with the machine's own Node. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { execFile, spawnSync } from "node:child_process"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { patienceMillis } from "#test/support/suite/patience.ts"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../..")
const sources = ["domain", "http", "layers", "migrations", "rpc", "src", "stream", "scripts"]

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ballast-production-"))
  for (const path of ["package.json", "package-lock.json", ...sources])
    await cp(join(root, path), join(folder, path), { recursive: true })
  await run("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    timeout: patienceMillis
  })
})

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

/** `npm run api` with a Node first on the path, as a machine has it. */
const api = (node: string) => {
  const env = {
    PATH: `${dirname(node)}:${process.env["PATH"]!.split(":")
      .filter((path) => !path.includes("node_modules"))
      .join(":")}`
  }
  const { status, stderr, stdout } = spawnSync("npm", ["run", "--silent", "api"], {
    cwd: folder,
    encoding: "utf8",
    env
  })
  return { status, said: `${stdout}${stderr}` }
}

it("the API starts, and asks for its configuration", () => {
  assert.isFalse(existsSync(join(folder, "node_modules/node")))
  const { said, status } = api(process.execPath)
  assert.match(said, /The configuration has [0-9]+ problem/u)
  assert.strictEqual(status, 1)
})

it("an older Node is told which one is needed, in one sentence", () => {
  const { stderr } = spawnSync(
    process.execPath,
    [
      "--import",
      `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.20.2" })`,
      join(folder, "scripts/requireNode.mjs")
    ],
    { encoding: "utf8" }
  )
  assert.strictEqual(
    stderr,
    "This is Node 20.20.2; the service needs Node 24 or newer. Install it, or run npm install, which brings it.\n"
  )
})
