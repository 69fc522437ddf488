/**
 * Fuzz and invariant tests of the guard, written in Solidity (test/forge) and played by forge, without network: its
 * compiler is the npm package `solc`.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"

const root = join(import.meta.dirname, "..", "..")
const forge = join(root, "node_modules", "@foundry-rs", "forge-linux-amd64", "bin", "forge")

interface Outcome {
  readonly code: number | string | null
  readonly output: string
}

/** What forge compiles and remembers goes into a folder of this run's own, so that runs do not meet. */
const run = (folder: string, args: ReadonlyArray<string>, profile = "default"): Promise<Outcome> =>
  new Promise((resolve) => {
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
      NO_COLOR: "1",
      FOUNDRY_PROFILE: profile,
      FOUNDRY_OUT: join(folder, "out"),
      FOUNDRY_CACHE_PATH: join(folder, "cache"),
      FOUNDRY_FUZZ_FAILURE_PERSIST_DIR: join(folder, "failures"),
      FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR: join(folder, "failures")
    }
    const options = { cwd: root, env, maxBuffer: 2 ** 26 }
    execFile(forge, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? null), output: `${stdout}\n${stderr}` })
    )
  })

const minutes = 60_000

describe("forge", () => {
  if (!existsSync(forge)) {
    it.skip("skipped because @foundry-rs/forge-linux-amd64 is not installed on this machine", () => {})
    return
  }

  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "ballast-forge-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it(
    "no sequence of honest and hostile calls breaks what the guard promises",
    async () => {
      const { code, output } = await run(folder, ["test", "--no-match-contract", "GuardGas"])
      assert.strictEqual(code, 0, output)
      // A run that found nothing to play would succeed as well.
      for (const suite of [
        "Differential",
        "Fees",
        "Invariants",
        "Markets",
        "Policy",
        "Prices",
        "Refusals",
        "Registry",
        "Settlements",
        "Trades",
        "Transfers",
        "UniswapV3",
        "Venues"
      ]) {
        assert.match(output, new RegExp(`Guard${suite}Test\\nSuite result: ok|Guard${suite}Test\\n\\[PASS\\]`, "u"))
      }
    },
    20 * minutes
  )

  it(
    "the guard costs what test/forge/gas.snapshot says, to one percent",
    async () => {
      const snapshot = join("test", "forge", "gas.snapshot")
      const args = ["snapshot", "--isolate", "--match-contract", "GuardGas", "--check", snapshot, "--tolerance", "1"]
      const { code, output } = await run(folder, args, "shipped")
      assert.strictEqual(code, 0, output)
    },
    20 * minutes
  )
})
