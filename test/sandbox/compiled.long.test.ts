/** The compiled contracts that are kept are what their sources compile to, so that nobody has to trust them. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const root = join(import.meta.dirname, "..", "..")
const read = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"))

describe("sandbox/chain/compiled.json", () => {
  it("is what `npm run contracts` makes of the sources", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ballast-contracts-"))
    try {
      const fresh = join(folder, "compiled.json")
      await promisify(execFile)(process.execPath, [join(root, "sandbox/chain/compile.ts"), fresh])
      assert.deepStrictEqual(read(join(root, "sandbox/chain/compiled.json")), read(fresh))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
