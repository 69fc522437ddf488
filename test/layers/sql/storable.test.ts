import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { storableJson, storableText } from "#layers/sql/storable.ts"

describe("storable", () => {
  it("leaves ordinary text alone", () => {
    assert.strictEqual(storableText("Übertrag 🏖 \\u0000"), "Übertrag 🏖 \\u0000")
  })

  it("replaces NUL and lone surrogates in text and in JSON strings, at any depth", () => {
    assert.strictEqual(storableText("a\0b\uDC00"), "a\uFFFDb\uFFFD")
    assert.strictEqual(storableJson({ a: ["\0", { b: "\uD800x" }] }), '{"a":["\uFFFD",{"b":"\uFFFDx"}]}')
  })

  it("writes undefined as null", () => {
    assert.strictEqual(storableJson(undefined), "null")
  })

  it("changes no JSON value of well-formed text", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        FastCheck.pre(text === JSON.stringify(JSON.parse(text)) && !text.includes("\\u0000"))
        assert.deepStrictEqual(JSON.parse(storableJson(value)), JSON.parse(text))
      })
    )
  })
})
