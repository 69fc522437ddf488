import { assert, describe, it } from "@effect/vitest"
import { closedName, endsWithReady, frameAt, isCancelRequest, preparedName } from "#layers/sql/pglite/frames.ts"

const frame = (type: string, body: string) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + Buffer.byteLength(body))
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)])
}

const first = (code: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32BE(8, 0)
  bytes.writeInt32BE(code, 4)
  return bytes
}

describe("frames", () => {
  it("waits for a frame to be whole", () => {
    const bytes = frame("Q", "SELECT 1\0")
    for (let length = 0; length < bytes.length; length++)
      assert.isUndefined(frameAt(bytes.subarray(0, length), 0, false))
    assert.strictEqual(frameAt(bytes, 0, false)?.end, bytes.length)
  })

  it("walks from frame to frame", () => {
    const bytes = Buffer.concat([
      frame("P", "effect_1\0SELECT 1\0\0\0"),
      frame("C", "Seffect_2\0"),
      frame("C", "Pportal\0"),
      frame("S", "")
    ])
    const parse = frameAt(bytes, 0, false)!
    const close = frameAt(bytes, parse.end, false)!
    const closePortal = frameAt(bytes, close.end, false)!
    const sync = frameAt(bytes, closePortal.end, false)!
    assert.deepStrictEqual([parse, close, closePortal, sync].map(preparedName), [
      "effect_1",
      undefined,
      undefined,
      undefined
    ])
    assert.deepStrictEqual([parse, close, closePortal, sync].map(closedName), [
      undefined,
      "effect_2",
      undefined,
      undefined
    ])
    assert.deepStrictEqual([parse, close, closePortal, sync].map(endsWithReady), [false, false, false, true])
    assert.strictEqual(sync.end, bytes.length)
  })

  it("reads the first frame of a connection, which has no type", () => {
    const startup = frameAt(first(196608), 0, true)!
    assert.isFalse(isCancelRequest(startup))
    assert.isTrue(endsWithReady(startup))
    assert.isTrue(isCancelRequest(frameAt(first(80877102), 0, true)!))
  })
})
