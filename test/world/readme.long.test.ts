/** The README's journey with curl, as it stands: its own block, in a shell, against a running world. */
import { execFile } from "node:child_process"
import { accessSync, constants, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8")
const journey = /### With curl\n.*?```sh\n(.*?)```/su.exec(readme)![1]!

const isInstalled = (name: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
const missing = ["bash", "curl", "jq"].filter((name) => !isInstalled(name))
const why = missing.length === 0 ? "" : ` (skipped: no ${missing.join(", ")} on PATH)`

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  if (missing.length > 0) return
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

describe("the README's journey with curl", () => {
  it.skipIf(missing.length > 0)(`enrolls, funds and rebalances a user as it stands${why}`, async () => {
    const here = journey
      .replace("http://127.0.0.1:3000", world.overview.apiBaseUrl)
      .replace("http://127.0.0.1:3100", world.controlUrl)
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", here], {
      timeout: patienceMillis
    })
    assert.include(stdout, '"tenantName"', "who is it")
    assert.match(stdout, /^"traded"$/mu, stdout)
    assert.match(stdout, /"symbol": "WETH"/u, stdout)
    const { body } = await world.api("GET", "/v2/portfolios")
    assert.lengthOf(body.data.portfolios, 1)
  })
})
