/** The tables of threats and findings in docs/contracts.md name tests: looked up here, played by forge.long.test.ts. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string) => readFileSync(at(path), "utf8")

/** Cells of a section's rows, the first and the last one: of a thief or a finding, the tests. */
const rowsOf = (title: string) =>
  read("docs/contracts.md")
    .split(`## ${title}\n`)[1]!
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
    .map((cells) => ({ subject: cells[0]!, tests: cells.at(-1)! }))

const threats = rowsOf("Threat model of the guard")
const findings = rowsOf("Checklist of an audit")

/** Names of Solidity tests by their contract: each follows its contract's name up to the next semicolon. */
const forgeTestsOf = (tests: string) =>
  tests.split(";").flatMap((part) => {
    const [contract, ...names] = [...part.matchAll(/`([^`]+)`/gu)].map(([, name]) => name!)
    return contract?.startsWith("Guard") === true ? names.map((name) => ({ contract, name })) : []
  })

describe("the tables of threats and findings in docs/contracts.md", () => {
  it("are read whole", () => {
    assert.deepStrictEqual([threats.length, findings.length], [19, 16])
  })

  it.each([...threats, ...findings])("each line has its test in test/forge: $subject", ({ tests }) => {
    const named = forgeTestsOf(tests)
    assert.isNotEmpty(named, tests)
    for (const { contract, name } of named) {
      const source = read(`test/forge/${contract}.t.sol`)
      assert.match(source, new RegExp(`function (test|testFuzz|invariant)_${name}\\(`, "u"), `${contract}: ${name}`)
    }
    for (const [, path] of tests.matchAll(/`(test\/[^`]+)`/gu)) assert.isTrue(existsSync(at(path!)), path)
  })
})
