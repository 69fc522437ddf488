import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Base58 from "#domain/values/Base58.ts"

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

const encode = (bytes: ReadonlyArray<number>): string => {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ""
  for (; value > 0n; value /= 58n) text = `${alphabet[Number(value % 58n)]}${text}`
  const first = bytes.findIndex((byte) => byte !== 0)
  return "1".repeat(first === -1 ? bytes.length : first) + text
}

const bytes = (length: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: length }), fc.array(fc.integer({ min: 0, max: 255 }), { minLength: length }))
    .map(([zeros, drawn]) => drawn.slice(0, length).map((byte, index) => (index < zeros ? 0 : byte)))

describe("base58 of 32 bytes", () => {
  it.each([
    ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", true],
    ["So11111111111111111111111111111111111111112", true],
    ["11111111111111111111111111111111", true],
    ["1111111111111111111111111111111", false],
    ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt", false],
    ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1vv", false],
    ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDtOv", false],
    ["", false]
  ])("%s: %s", (text, expected) => assert.strictEqual(Base58.isBytes32(text), expected))

  it("takes every 32 bytes, whatever they begin with", () =>
    fc.assert(fc.property(bytes(32), (drawn) => assert.isTrue(Base58.isBytes32(encode(drawn))))))

  it("takes no other number of bytes", () =>
    fc.assert(
      fc.property(fc.constantFrom(30, 31, 33, 34).chain(bytes), (drawn) =>
        assert.isFalse(Base58.isBytes32(encode(drawn)))
      )
    ))
})

describe("base58 of any length", () => {
  it("is read as it was written", () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 80 }).chain(bytes), (drawn) => {
        assert.strictEqual(Base58.encode(Uint8Array.from(drawn)), encode(drawn))
        assert.deepStrictEqual(Base58.decode(encode(drawn)), Uint8Array.from(drawn))
      })
    ))

  it("is nothing else", () => {
    for (const text of ["0", "O", "I", "l", " ", "1".repeat(2_001)]) assert.isUndefined(Base58.decode(text))
  })
})
