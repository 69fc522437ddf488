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
    ["the sandbox", "src/Sandbox.ts", [], /sandbox\/.* is not in the image/u],
    ["packages of the tests", "test/domain/Day.test.ts", ["test"], /node_modules\/@effect\/vitest is not in the image/u]
  ])("has not %s", (_, program, more, reason) => {
    const { said, status } = load(program, more)
    assert.notStrictEqual(status, 0)
    assert.match(said, reason)
  })
})
