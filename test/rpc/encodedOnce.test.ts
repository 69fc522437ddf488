import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { encodedOnce } from "#rpc/encodedOnce.ts"

const Plain = Schema.Struct({ id: Schema.String.check(Schema.isMinLength(2)), at: Schema.Date })
const codecOf = <S extends Schema.Constraint>(row: S) => Schema.toCodecJson(Schema.Struct({ items: Schema.Array(row) }))
const row = { id: "one", at: new Date("2026-03-01T00:00:00Z"), inner: "not sent" }

describe("rows that are encoded once", () => {
  const once = codecOf(encodedOnce(Plain))
  const encode = Schema.encodeUnknownSync(once)

  it("are the JSON that their schema makes, without what it does not name", () => {
    const expected = Schema.encodeUnknownSync(codecOf(Plain))({ items: [row] })
    assert.deepStrictEqual(encode({ items: [row] }), expected)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(encode({ items: [row] }))), {
      items: [{ id: "one", at: "2026-03-01T00:00:00.000Z" }]
    })
  })

  it("are the same object the second time, and an equal one of another object", () => {
    const [first] = (encode({ items: [row] }) as { readonly items: ReadonlyArray<object> }).items
    const [again] = (encode({ items: [row] }) as { readonly items: ReadonlyArray<object> }).items
    const [other] = (encode({ items: [{ ...row }] }) as { readonly items: ReadonlyArray<object> }).items
    assert.strictEqual(again, first)
    assert.notStrictEqual(other, first)
    assert.deepStrictEqual(other, first)
  })

  it("are checked: what does not fit is refused each time", () => {
    const wrong = { ...row, id: "x" }
    for (let time = 0; time < 2; time += 1)
      assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(once)({ items: [wrong] })))
    assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(once)({ items: ["one"] })))
    assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(once)({ items: [null] })))
  })

  it("are read by their schema", () => {
    const read = Schema.decodeUnknownResult(once)
    const { at, id } = row
    assert.deepStrictEqual(read(encode({ items: [row] })), Result.succeed({ items: [{ id, at }] }))
    assert.isTrue(Result.isFailure(read({ items: [{ id: "x", at: "2026-03-01T00:00:00.000Z" }] })))
    assert.isTrue(Result.isFailure(read({ items: [{ id: "one" }] })))
  })
})
