/** The table of threats in docs/contracts.md names tests; here they are looked up, and played by forge.long.test.ts. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string) => readFileSync(at(path), "utf8")

const [, section] = read("docs/contracts.md").split("## Threat model of the guard")
/** Cells of a row: the thief, what is lost at most, the tests. */
const rows = section!
  .split("\n## ")[0]!
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, thief, , tests]) => ({ thief: thief!, tests: tests! }))

/** Names of Solidity tests by their contract: each follows its contract's name up to the next semicolon. */
const forgeTestsOf = (tests: string) =>
  tests.split(";").flatMap((part) => {
    const [contract, ...names] = [...part.matchAll(/`([^`]+)`/gu)].map(([, name]) => name!)
    return contract?.startsWith("Guard") === true ? names.map((name) => ({ contract, name })) : []
  })

describe("the table of threats in docs/contracts.md", () => {
  it("is read whole", () => {
    assert.strictEqual(rows.length, 14)
  })

  it.each(rows)("each line has its test in test/forge: $thief", ({ tests }) => {
    const named = forgeTestsOf(tests)
    assert.isNotEmpty(named, tests)
    for (const { contract, name } of named) {
      const source = read(`test/forge/${contract}.t.sol`)
      assert.match(source, new RegExp(`function (test|testFuzz|invariant)_${name}\\(`, "u"), `${contract}: ${name}`)
    }
    for (const [, path] of tests.matchAll(/`(test\/[^`]+)`/gu)) assert.isTrue(existsSync(at(path!)), path)
  })
})
