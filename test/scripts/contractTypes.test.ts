import { assert, describe, it } from "vitest"
import { contractTypes } from "#scripts/contractTypes.ts"

describe("the contract as types that stand alone", () => {
  const text = contractTypes()

  it("names each schema once, in endpoints and procedures alike", () => {
    const names = [...text.matchAll(/^export (?:type|interface) (\w+)/gmu)].map(([, name]) => name!)
    assert.include(names, "PerformanceSummary")
    assert.sameMembers(names, [...new Set(names)])
  })

  it("knows every name that it uses", () => {
    const names = new Set([...text.matchAll(/^export (?:type|interface) (\w+)/gmu)].map(([, name]) => name))
    const code = text.replaceAll(/\/\*\*.*?\*\//gu, "").replaceAll(/"(?:[^"\\]|\\.)*"/gu, '""')
    const used = [...code.matchAll(/(?<![\w.])([A-Z]\w+)(?!\w*:)/gu)].map(([, name]) => name)
    assert.deepStrictEqual([...new Set(used.filter((name) => name !== "ReadonlyArray" && !names.has(name)))], [])
  })
})
