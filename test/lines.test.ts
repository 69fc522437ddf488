/** How long lines and files may be. The formatter breaks neither SQL nor comments. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { comment, root, sources } from "#test/sources.ts"

/** Files above 300 lines, and why they are not split. */
const long: Readonly<Record<string, string>> = {
  "domain/Errors.ts": "one list of codes, which stands in no other file"
}

describe("lines", () => {
  it("lines of code and of comments end at 120 columns", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ path, wide }) => wide.map((line) => `${path}:${line}`)),
      []
    ))

  it("comments in Solidity end at 120 columns", () => {
    const contracts = ["contracts", "sandbox/contracts", "test/forge", "test/solidity"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".sol"))
        .map((path) => `${folder}/${path}`)
    )
    assert.isAbove(contracts.length, 20)
    assert.deepStrictEqual(
      contracts.flatMap((path) =>
        readFileSync(join(root, path), "utf8")
          .split("\n")
          .flatMap((line, index) => (comment.test(line) && line.length > 120 ? [`${path}:${index + 1}`] : []))
      ),
      []
    )
  })

  it("no file is above 300 lines; tests and benchmarks may have 400", () =>
    assert.deepStrictEqual(
      sources
        .filter(({ lines, path }) => lines > (/^(?:test|bench)\//.test(path) ? 400 : 300) && !(path in long))
        .map(({ path, lines }) => `${path}: ${lines}`),
      []
    ))
})
