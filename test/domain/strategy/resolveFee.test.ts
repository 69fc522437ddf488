import { assert, describe, it } from "@effect/vitest"
import type { TenantId } from "#domain/Ids.ts"
import { resolveFee } from "#domain/strategy/resolveFee.ts"

const creator = "tn_01ARZ3NDEKTSV4RRFFQ69G5FAV" as TenantId
const mirror = "tn_01ARZ3NDEKTSV4RRFFQ69G5FAW" as TenantId

describe("resolveFee", () => {
  for (const override of [null, 0, 30]) {
    for (const own of [null, 0, 20]) {
      it(`of the creator: override ${override}, tenant ${own}`, () =>
        assert.strictEqual(
          resolveFee({ tenantId: creator, swapBps: override }, { tenantId: creator, swapBps: own }),
          override ?? own ?? 0
        ))

      it(`of a tenant that mirrors: override ${override} is not its own, tenant ${own}`, () =>
        assert.strictEqual(
          resolveFee({ tenantId: creator, swapBps: override }, { tenantId: mirror, swapBps: own }),
          own ?? 0
        ))
    }
  }
})
