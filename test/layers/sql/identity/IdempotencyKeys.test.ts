/** Named requests: one of many carries it out, and what was answered stays for a day. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { IdempotencyKeys, type KeyClaim } from "#domain/identity/IdempotencyKeys.ts"
import { pruneKeys } from "#domain/identity/KeyPruner.ts"
import type { TenantId, ClaimId } from "#domain/values/Ids.ts"
import { after, insertTenant } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

const day = 86_400_000
const claimLength = 60_000
const print = (fill: number) => new Uint8Array(32).fill(fill)
const answer = { status: 201, body: new Uint8Array([1, 2, 3]) }

const claimAt = (
  tenantId: TenantId,
  name: string,
  {
    also = {},
    milliseconds
  }: { readonly milliseconds: number; readonly also?: Partial<KeyClaim["request"]> | undefined }
) => ({
  request: { tenantId, route: "POST /v2/strategies", key: "k", fingerprint: print(1), ...also },
  claimId: name as ClaimId,
  now: after(milliseconds),
  until: after(milliseconds + claimLength)
})

eachDatabase("IdempotencyKeys", (it) => {
  it.effect("of 50 who claim one key at once, one gets it, and all get its answer later", () =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const tenantId = yield* insertTenant
      const claims = Array.from({ length: 50 }, (_, index) => claimAt(tenantId, `c${index}`, { milliseconds: 0 }))
      const states = yield* Effect.forEach(claims, keys.claim, { concurrency: "unbounded" })
      assert.lengthOf(
        states.filter(({ _tag }) => _tag === "Claimed"),
        1
      )
      assert.lengthOf(
        states.filter(({ _tag }) => _tag === "InProgress"),
        49
      )
      const winner = claims[states.findIndex(({ _tag }) => _tag === "Claimed")]!
      assert.isFalse(yield* keys.complete(claimAt(tenantId, "another", { milliseconds: 1 }), answer))
      assert.isTrue(yield* keys.complete(winner, answer))
      for (const state of yield* Effect.forEach(claims, keys.claim, { concurrency: "unbounded" })) {
        assert.strictEqual(state._tag, "Answered")
        if (state._tag === "Answered")
          assert.deepStrictEqual([state.answer.status, ...state.answer.body], [201, 1, 2, 3])
      }
    })
  )

  it.effect("keys of other tenants, routes and names are others; another request under one key is refused", () =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const [tenantId, stranger] = [yield* insertTenant, yield* insertTenant]
      const stateOf = (claim: KeyClaim) => Effect.map(keys.claim(claim), ({ _tag }) => _tag)
      assert.strictEqual(yield* stateOf(claimAt(tenantId, "a", { milliseconds: 0 })), "Claimed")
      assert.strictEqual(yield* stateOf(claimAt(stranger, "b", { milliseconds: 0 })), "Claimed")
      assert.strictEqual(
        yield* stateOf(claimAt(tenantId, "c", { milliseconds: 0, also: { route: "POST /v2/webhooks" } })),
        "Claimed"
      )
      assert.strictEqual(yield* stateOf(claimAt(tenantId, "d", { milliseconds: 0, also: { key: "K" } })), "Claimed")
      assert.strictEqual(
        yield* stateOf(claimAt(tenantId, "e", { milliseconds: 0, also: { fingerprint: print(2) } })),
        "Mismatch"
      )
    })
  )

  it.effect("a request whose process died is free after its claim, for the same body alone", () =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const tenantId = yield* insertTenant
      const died = claimAt(tenantId, "died", { milliseconds: 0 })
      yield* keys.claim(died)
      assert.strictEqual(
        (yield* keys.claim(claimAt(tenantId, "a", { milliseconds: claimLength - 1 })))._tag,
        "InProgress"
      )
      const other = claimAt(tenantId, "b", { milliseconds: claimLength, also: { fingerprint: print(2) } })
      assert.strictEqual((yield* keys.claim(other))._tag, "Mismatch")
      const next = claimAt(tenantId, "c", { milliseconds: claimLength })
      assert.strictEqual((yield* keys.claim(next))._tag, "Claimed")
      // The first one was only slow: what it has is not kept, and it frees nothing of the other's.
      assert.isFalse(yield* keys.complete(died, answer))
      yield* keys.release(died)
      assert.isTrue(yield* keys.complete(next, answer))
    })
  )

  it.effect("what came to nothing is free at once; what was answered is not released, and is kept for a day", () =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const tenantId = yield* insertTenant
      const first = claimAt(tenantId, "a", { milliseconds: 0 })
      yield* keys.claim(first)
      yield* keys.release(first)
      const second = claimAt(tenantId, "b", { milliseconds: 1, also: { fingerprint: print(2) } })
      assert.strictEqual((yield* keys.claim(second))._tag, "Claimed")
      yield* keys.complete(second, answer)
      yield* keys.release(second)
      const again = (milliseconds: number) => claimAt(tenantId, "c", { milliseconds, also: { fingerprint: print(2) } })
      assert.strictEqual((yield* keys.claim(again(day)))._tag, "Answered")
      assert.strictEqual((yield* keys.claim(again(day + 1)))._tag, "Claimed")
    })
  )

  it.effect("keys of more than a day ago are removed, a batch at a time", () =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      yield* sql`DELETE FROM idempotency_keys`
      for (const [index, at] of [0, 1, 2, day].entries())
        yield* keys.claim(claimAt(tenantId, `c${index}`, { milliseconds: at, also: { key: `k${index}` } }))
      assert.strictEqual(yield* keys.prune(after(2), 2), 2)
      assert.strictEqual(yield* keys.prune(after(2), 2), 1)
      assert.strictEqual(yield* keys.prune(after(2), 2), 0)
      assert.deepStrictEqual(yield* sql`SELECT key FROM idempotency_keys`, [{ key: "k3" }])
      // The clock of the machine is long after these.
      yield* pruneKeys
      assert.deepStrictEqual(yield* sql`SELECT key FROM idempotency_keys`, [])
    })
  )

  it.effect("what is written together with an answer is not written without it", () =>
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const rename = (name: string) => sql`UPDATE tenants SET name = ${name} WHERE tenant_id = ${tenantId}`
      const failed = yield* Effect.flip(keys.atomically(Effect.andThen(rename("half"), Effect.fail("no answer"))))
      assert.strictEqual(failed, "no answer")
      yield* keys.atomically(rename("whole"))
      assert.deepStrictEqual(yield* sql`SELECT name FROM tenants WHERE tenant_id = ${tenantId}`, [{ name: "whole" }])
    })
  )
})
