import { assert, describe, it } from "@effect/vitest"
import { isTerminal, OperationState, sourcesOf } from "#domain/operation/Operation.ts"

describe("the lifecycle of an operation", () => {
  it("never leaves a terminal state", () => {
    const terminal = OperationState.literals.filter(isTerminal)
    assert.deepStrictEqual([...terminal], ["completed", "failed", "cancelled"])
    for (const to of OperationState.literals) {
      for (const from of terminal) assert.notInclude(sourcesOf(to), from)
    }
  })

  it("begins at accepted, which nothing leads back to", () => assert.isEmpty(sourcesOf("accepted")))

  it("passes between running and the two waiting states", () => {
    assert.includeMembers([...sourcesOf("running")], ["accepted", "retrying", "awaiting_user"])
    assert.deepStrictEqual([...sourcesOf("retrying")], ["running"])
  })
})
