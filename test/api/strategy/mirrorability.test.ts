/** The operator's switch for mirroring. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { KeyInvalid, KeyMissing, NotFound, ValidationFailed } from "#domain/Errors.ts"
import { newStrategy, newTenant, setMirrorable } from "#test/api/support/actors.ts"
import { adminToken, type Answer, Api, ApiLive } from "#test/api/support/Api.ts"
import { assertTraced } from "#test/api/support/assertions.ts"

const assertRefused = (answer: Answer, { contract }: { readonly contract: { code: string; status: number } }) => {
  assert.strictEqual(answer.status, contract.status, answer.text)
  assert.strictEqual(answer.json.error.code, contract.code)
  assert.strictEqual(answer.json.correlationId, answer.headers.get("x-correlation-id"))
}

layer(ApiLive, { excludeTestServices: true })("mirrorable", (it) => {
  it.effect("enabling makes a strategy public, disabling leaves that as it is, and isPublic says otherwise", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const blueprintId = yield* newStrategy(actor)
      for (const [body, data] of [
        [
          { canMirror: true, isPublic: false },
          { canMirror: true, isPublic: false }
        ],
        [{ canMirror: true }, { canMirror: true, isPublic: true }],
        [{ canMirror: false }, { canMirror: false, isPublic: true }],
        [
          { canMirror: false, isPublic: false },
          { canMirror: false, isPublic: false }
        ],
        [{ canMirror: false }, { canMirror: false, isPublic: false }]
      ] as const) {
        const answer = yield* setMirrorable(blueprintId, body)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(answer.json.data, { blueprintId, ...data })
        assert.isTrue(answer.json.success)
        assertTraced(answer)
        const { json } = yield* call("GET", `/v2/strategies/${blueprintId}`, { key: actor.key })
        assert.strictEqual(json.data.isPublic, data.isPublic)
      }
    })
  )

  it.effect("needs the admin token, a strategy that exists and a body of its form", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const blueprintId = yield* newStrategy(yield* newTenant())
      const path = `/v1/admin/strategy-blueprints/${blueprintId}/mirrorable`
      assertRefused(yield* call("PATCH", path, { body: { canMirror: true } }), KeyMissing)
      assertRefused(yield* setMirrorable(blueprintId, { canMirror: true }, `${adminToken}x`), KeyInvalid)
      for (const unknown of ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "42"]) {
        assertRefused(yield* setMirrorable(unknown, { canMirror: true }), NotFound)
      }
      for (const body of [{}, { canMirror: "yes" }, { canMirror: true, isOpen: true }, { isPublic: true }]) {
        assertRefused(yield* setMirrorable(blueprintId, body), ValidationFailed)
      }
    })
  )
})
