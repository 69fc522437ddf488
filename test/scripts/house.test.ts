/** What `npm run house` takes for a comment, and which of them break the rule of sentences. */
import { assert, describe, it } from "@effect/vitest"
import { docComments, faultOf } from "#scripts/house.ts"

describe("npm run house", () => {
  it("reads doc comments as lines of text, and no others", () =>
    assert.deepStrictEqual(docComments("/** One. */\n/* not one */\n  /**\n   * Two\n   * lines.\n   */\n// neither"), [
      "One.",
      "Two lines."
    ]))

  it("names a comment that begins with a preposition, a conjunction or `The same`, or says `of before`", () => {
    assert.strictEqual(faultOf("Of the transaction."), "preposition")
    assert.strictEqual(faultOf("When it was sent."), "preposition")
    assert.strictEqual(faultOf("The same for Solana."), "the same")
    assert.strictEqual(faultOf("Rows of before have none."), "of before")
    assert.isUndefined(faultOf("Fee of the transaction, in lamports."))
    assert.isUndefined(faultOf("Input of a swap."))
  })
})
