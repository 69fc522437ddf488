import { assert, describe, it } from "@effect/vitest"
import { Gate } from "#layers/sql/pglite/Gate.ts"

describe("Gate", () => {
  it("admits one at a time, in order of arrival", async () => {
    const gate = new Gate()
    const admitted: Array<string> = []
    const [a, b, c] = [{}, {}, {}]
    const enter = (name: string, holder: object) => gate.enter(holder).then(() => admitted.push(name))
    void enter("a", a)
    void enter("b", b)
    const last = enter("c", c)
    await enter("a again", a)
    assert.deepStrictEqual(admitted, ["a", "a again"])
    gate.leave(b)
    assert.isTrue(gate.isHeldBy(a))
    gate.leave(a)
    assert.isTrue(gate.isHeldBy(b))
    gate.leave(b)
    await last
    assert.deepStrictEqual(admitted, ["a", "a again", "b", "c"])
    gate.leave(c)
    assert.isFalse(gate.isHeldBy(c))
  })
})
