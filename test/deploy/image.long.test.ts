/** Every program of the image loads with what the image has, and then asks for its configuration. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { copiedFolders } from "#test/deploy/support/dockerfile.ts"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const load = (program: string, more: ReadonlyArray<string> = []) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--import", at("test/deploy/support/imageFilesOnly.mjs"), at(program)],
    { encoding: "utf8", env: { PATH: process.env["PATH"], IMAGE_FOLDERS: [...copiedFolders(), ...more].join(",") } }
  )
  return { status, said: `${stdout}${stderr}` }
}

describe("the image", () => {
  it.each(["src/Api.ts", "src/StreamWorker.ts", "src/PriceAttestor.ts"])("has what %s loads", (program) => {
    const { said, status } = load(program)
    assert.match(said, /The configuration has [0-9]+ problem/u)
    assert.strictEqual(status, 1)
  })

  it("has what src/Cli.ts loads", () => {
    assert.match(load("src/Cli.ts").said, /SUBCOMMANDS/u)
  })

  it.each([
    { what: "the sandbox", program: "src/Sandbox.ts", more: [], reason: /sandbox\/.* is not in the image/u },
    {
      what: "packages of the tests",
      program: "test/domain/values/Day.test.ts",
      more: ["test"],
      reason: /node_modules\/@effect\/vitest is not in the image/u
    }
  ])("has not $what", ({ more, program, reason }) => {
    const { said, status } = load(program, more)
    assert.notStrictEqual(status, 0)
    assert.match(said, reason)
  })
})
