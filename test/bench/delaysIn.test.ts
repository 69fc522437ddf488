import { assert, describe, it } from "@effect/vitest"
import { delaysIn, timeOf } from "#bench/events/delaysIn.ts"

const frame = (at: number) => `id: 1\nevent: x\ndata: ${JSON.stringify({ payload: { data: timeOf(at) } })}\n\n`

describe("delays of timed events", () => {
  it("are read from whole events, however the text is cut", () => {
    const text = `HTTP/1.1 200 OK\r\n\r\nretry: 1000\n\n: keep-alive\n\n${frame(1_000.5)}${frame(1_010)}`
    for (let cut = 0; cut <= text.length; cut += 1) {
      const first = delaysIn(text.slice(0, cut), 1_020)
      const second = delaysIn(first.rest + text.slice(cut), 1_020)
      assert.deepStrictEqual([...first.delays, ...second.delays], [19.5, 10], `cut at ${cut}`)
      assert.strictEqual(second.rest, "")
    }
  })
})
