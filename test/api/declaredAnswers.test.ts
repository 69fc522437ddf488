/** What the check after a run of all contract tests takes for declared, and for missing. */
import { assert, describe, it } from "@effect/vitest"
import { declaredAnswers, type Document, missingAnswers } from "#test/api/support/declaredAnswers.ts"

const error = (code: string) => ({ properties: { error: { properties: { code: { enum: [code] } } } } })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { "application/json": { schema } } })

const document: Document = {
  paths: {
    "/v2/things/{thingId}": {
      get: { responses: { 200: json({}), 404: json(ref("NotFound")) } },
      patch: { responses: { 202: json({}), 409: json({ anyOf: [ref("InProgress"), ref("Mismatch")] }), 418: {} } }
    }
  },
  components: {
    schemas: { NotFound: error("API_006"), InProgress: error("API_007"), Mismatch: error("API_008") }
  }
}

const declared = [
  "GET /v2/things/{thingId} 200",
  "GET /v2/things/{thingId} 404 API_006",
  "PATCH /v2/things/{thingId} 202",
  "PATCH /v2/things/{thingId} 409 API_007",
  "PATCH /v2/things/{thingId} 409 API_008",
  "PATCH /v2/things/{thingId} 418 without a code"
]

describe("declared answers", () => {
  it("are every status of every route, and every code of an error", () =>
    assert.deepStrictEqual(declaredAnswers(document), declared))

  for (const line of declared) {
    it(`without ${line} one is missing`, () => {
      const produced = declared.filter((other) => other !== line)
      assert.deepStrictEqual(missingAnswers(document, `${produced.join("\n")}\n`), [line])
    })
  }

  it("produced in any order and beside others, nothing is missing", () =>
    assert.deepStrictEqual(
      missingAnswers(document, `GET unmatched 404 API_006\n${declared.toReversed().join("\n")}`),
      []
    ))
})
