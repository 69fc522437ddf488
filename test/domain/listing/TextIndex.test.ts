/** The search of the index against one that reads every entry. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { folded, makeTextIndex } from "#domain/listing/TextIndex.ts"

const letters = FastCheck.constantFrom(
  "a",
  "b",
  "A",
  "%",
  "_",
  "\\",
  " ",
  "é",
  "İ",
  "\u0001",
  "\u0000",
  "\u0002",
  "💥",
  "."
)
const text = FastCheck.array(letters, { maxLength: 8 }).map((parts) => parts.join(""))
const entries = FastCheck.array(FastCheck.record({ symbol: text, ticker: text, name: text }), { maxLength: 20 })

describe("TextIndex", () => {
  it("finds exactly the entries of which some text contains the characters, and no entry twice", () =>
    FastCheck.assert(
      FastCheck.property(entries, text, (rows, query) => {
        const searchable = rows.map(({ name, symbol, ticker }) => ({
          symbols: [folded(symbol), folded(ticker)],
          name: folded(name)
        }))
        const index = makeTextIndex(searchable)
        const found = [...index.find(query)]
        const wanted = query.toLowerCase()
        const expected = rows.flatMap(({ name, symbol, ticker }, position) => {
          const isText = !/[\u0000-\u0002]/.test(wanted)
          const texts = [symbol, ticker, name].map((part) => part.toLowerCase().replaceAll(/[\u0000-\u0002]/g, " "))
          return wanted !== "" && isText && texts.some((part) => part.includes(wanted)) ? [position] : []
        })
        assert.deepStrictEqual(
          found.toSorted((a, b) => a - b),
          expected
        )
        // Many hits are found another way, and in the same order.
        assert.deepStrictEqual([...makeTextIndex(searchable, 0).find(query)], found)
      })
    ))

  it("a search over 20,000 entries that all fit, and one that none fits, find as many", () => {
    const index = makeTextIndex(
      Array.from({ length: 20_000 }, (_, n) => ({ symbols: [`aaa${n}`], name: "a".repeat(40) }))
    )
    assert.lengthOf([...index.find("aaa")], 20_000)
    assert.lengthOf([...index.find("a".repeat(41))], 0)
  })
})
