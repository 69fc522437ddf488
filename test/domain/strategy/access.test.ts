import { assert, describe, it } from "@effect/vitest"
import type { TenantId } from "#domain/values/Ids.ts"
import { isAccessible } from "#domain/strategy/requireStrategy.ts"
import { isEnrollable } from "#domain/strategy/requireEnrollable.ts"

const owner = "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV" as TenantId
const stranger = "tn_01ARZ3NDEKTSV4RRFFQ69G5FAW" as TenantId

/** Whose, public, may be mirrored: may be read, may be enrolled into. */
const table = [
  [owner, false, false, true, true],
  [owner, false, true, true, true],
  [owner, true, false, true, true],
  [owner, true, true, true, true],
  [stranger, false, false, false, false],
  [stranger, false, true, false, false],
  [stranger, true, false, true, false],
  [stranger, true, true, true, true]
] as const

describe("access to a strategy", () => {
  for (const [caller, isPublic, canMirror, mayRead, mayEnroll] of table) {
    const who = caller === owner ? "its owner" : "a stranger"
    it(`${who}, public ${isPublic}, mirrorable ${canMirror}: read ${mayRead}, enroll ${mayEnroll}`, () => {
      const strategy = { tenantId: owner, isPublic, canMirror }
      assert.strictEqual(isAccessible(strategy, caller), mayRead)
      assert.strictEqual(isEnrollable(strategy, caller), mayEnroll)
    })
  }
})
