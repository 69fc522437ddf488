/** How long lines and files may be. The formatter breaks neither SQL nor comments. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { comment, root, sources } from "#test/sources.ts"

/** Files above 300 lines, and why they are not split. */
const long: Readonly<Record<string, string>> = {
  "domain/errors/Errors.ts": "one list of codes, which stands in no other file"
}

const codeBlock = /^ *```[\s\S]*?^ *```/gmu

/** A row of a table, and a link whose text and address stand alone. */
const asItIs = /^\s*(?:\||(?:- )?\[[^\]]*\]\(\S*\)[,.;]?$)/u

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

  it("prose in Markdown ends at 120 columns; a link that does not fit stands alone", () => {
    const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".md"))
      .map((path) => `docs/${path}`)
    assert.isAbove(pages.length, 100)
    const long = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", ...pages].flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .replaceAll(codeBlock, (block) => block.replaceAll(/[^\n]/gu, ""))
        .split("\n")
        .flatMap((line, index) => (line.length > 120 && !asItIs.test(line) ? [`${path}:${index + 1}`] : []))
    )
    assert.deepStrictEqual(long, [])
  })

  it("tables of the pages that a stranger reads first end there too", () => {
    const first = ["README.md", "CONTRIBUTING.md"].concat(
      ["README", "api", "client", "interface", "limits", "shapes", "decisions/README"].map((name) => `docs/${name}.md`)
    )
    assert.deepStrictEqual(
      first.flatMap((path) =>
        readFileSync(join(root, path), "utf8")
          .split("\n")
          .flatMap((line, index) => (line.length > 120 && line.startsWith("|") ? [`${path}:${index + 1}`] : []))
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
