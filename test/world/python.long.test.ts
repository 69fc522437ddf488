/** The program of docs/client.md in Python, as it stands there, against a running world. */
import { execFile, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createStrategy, enroll, type EnrolledPortfolio, fund, newOwner } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const page = readFileSync(join(import.meta.dirname, "../../docs/client.md"), "utf8")
const [, program] = /^```python\n([\s\S]*?)^```$/mu.exec(page)!

const version = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status

describe.skipIf(version !== 0)("the program in Python (skipped without python3 of 3.9 or newer)", () => {
  let world: World
  let folder: Awaited<ReturnType<typeof worldFolder>>
  let portfolio: EnrolledPortfolio
  let file: string

  beforeAll(async () => {
    folder = await worldFolder()
    world = await startWorld(folder.dataDir)
    portfolio = await enroll(world, { strategyId: await createStrategy(world), owner: newOwner() })
    await fund(world, portfolio.accounts, 1_000n)
    file = join(folder.dataDir, "rebalance.py")
    writeFileSync(file, program!)
  })

  afterAll(async () => {
    await world?.stop()
    await folder?.remove()
  })

  const run = (portfolioId: string, key = world.key) =>
    promisify(execFile)("python3", [file, portfolioId], {
      env: { ...process.env, BALLAST_URL: world.overview.apiBaseUrl, BALLAST_KEY: key },
      timeout: patienceMillis
    }).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: "" }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error
    )

  it("rebalances a portfolio, receives each event of it once, and says what became of it", async () => {
    const { code, stderr, stdout } = await run(portfolio.portfolioId)
    assert.strictEqual(code, 0, stderr)
    const lines = stdout.trim().split("\n")
    assert.match(lines.at(-1)!, /^completed traded/)
    const ids = lines.slice(0, -1).map((line) => Number(line.split(" ")[0]))
    assert.isAbove(ids.length, 1)
    assert.deepStrictEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b)
    )
  })

  it("says the code and the sentence of what is refused", async () => {
    const unknown = await run("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8")
    assert.strictEqual(unknown.code, 1)
    assert.match(unknown.stderr, /^API_\d{3} \(404\): \S/)
    const noKey = await run(portfolio.portfolioId, "bk_test_none")
    assert.match(noKey.stderr, /^API_\d{3} \(401\): \S/)
  })
})
