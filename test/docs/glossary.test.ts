/** The glossary has one meaning a row, and the files that it names are there and have its words. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "#test/sources.ts"

interface Row {
  readonly word: string
  readonly meaning: string
  readonly files: ReadonlyArray<string>
}

const cells = /^\| ([^|]+?) +\| ([^|]+?) +\| ([^|]+?) +\|$/gmu

const rows: ReadonlyArray<Row> = [...readFileSync(join(root, "docs/glossary.md"), "utf8").matchAll(cells)].flatMap(
  ([, word, meaning, files]) =>
    word === "Word" || /^-+$/u.test(word!)
      ? []
      : [{ word: word!, meaning: meaning!, files: [...files!.matchAll(/`([^`]+)`/gu)].map(([, file]) => file!) }]
)

/** A sentence of its own that says what the word means elsewhere. */
const secondMeaning =
  /(?:^|[.;] )(?:In `|In code|Of an? |On \w+: |As an? |What .* is an? `|An? \w+ of .* has an? `|another meaning)/u

/** Words that their file says by another form. */
const inCode: Readonly<Record<string, string>> = {
  "relayer account": "relayer",
  "chain family": "namespace",
  version: "strategyversion",
  "durable workflow": "workflowmake",
  step: "activitymake",
  confirmed: "confirmations",
  "drift check": "checkdrift"
}

/** Letters alone, so that `MarketUpdate`, `market_update` and a market update are one. */
const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/gu, "")

describe("the glossary", () => {
  it("has each word once, with one meaning", () => {
    assert.isAbove(rows.length, 70)
    assert.deepStrictEqual(
      [...Map.groupBy(rows, ({ word }) => word)].flatMap(([word, found]) => (found.length > 1 ? [word] : [])),
      []
    )
    assert.deepStrictEqual(
      rows.flatMap(({ meaning, word }) => (secondMeaning.test(meaning) ? [`${word}: ${meaning}`] : [])),
      []
    )
  })

  it.each([
    "one check of a waiting workflow. In `domain/stream/` a `Tick` is one figure of a market",
    "one activity of a durable workflow. On Solana: one transaction of an action",
    "one published target of a strategy. Of a workflow: one order and meaning of its steps",
    "what a sign-in begins. A client of the stream has a `StreamSession`"
  ])("shows a second meaning: %s", (meaning) => assert.match(meaning, secondMeaning))

  it("names files that are there", () =>
    assert.deepStrictEqual(
      rows.flatMap(({ files, word }) =>
        files.length === 0 ? [word] : files.filter((file) => !existsSync(join(root, file)))
      ),
      []
    ))

  it("names a file that says the word", () =>
    assert.deepStrictEqual(
      rows.flatMap(({ files, word }) => {
        const text = lettersOf(files[0]! + readFileSync(join(root, files[0]!), "utf8"))
        return word.split(", ").every((one) => text.includes(inCode[one] ?? lettersOf(one))) ? [] : [word]
      }),
      []
    ))
})
