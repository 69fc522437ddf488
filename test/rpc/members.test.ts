/** Members of a tenant and their API keys, managed by people who signed in. Source: interface "Authentication" 2. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PermissionDenied, SessionInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { standardScopes } from "#domain/values/Scopes.ts"
import { assertError, makeSignInApi, newWallet, session, SignInApi } from "#test/rpc/support/SignInApi.ts"

layer(makeSignInApi(), { excludeTestServices: true })("a tenant's people", (it) => {
  describe("members", () => {
    it.effect("are invited by an owner; a viewer sees and changes nothing; who is removed is out at once", () =>
      Effect.gen(function* () {
        const { as } = yield* SignInApi
        const owner = yield* session()
        const wallet = newWallet()
        const walletId = `eip155:0:${wallet.address}`
        const invited = yield* as(owner.token, "identity.invite", { walletId, role: "viewer" })
        assert.strictEqual(invited.data.role, "viewer")
        const viewer = yield* session({}, wallet)
        assert.deepStrictEqual([viewer.tenantId, viewer.userId], [owner.tenantId, invited.data.userId])
        const { members } = (yield* as(viewer.token, "identity.members")).data
        assert.sameMembers(
          members.map((member: { userId: string }) => member.userId),
          [owner.userId, viewer.userId]
        )
        for (const [procedure, input] of [
          ["identity.invite", { walletId, role: "owner" }],
          ["identity.removeMember", { userId: owner.userId }],
          ["apiKeys.create", { name: "mine", scopes: [] }],
          ["apiKeys.revoke", { apiKeyId: "key_01ARZ3NDEKTSV4RRFFQ69G5FAV" }]
        ] as const)
          assertError(yield* as(viewer.token, procedure, input), PermissionDenied)
        assert.strictEqual((yield* as(viewer.token, "apiKeys.list")).status, 200)
        yield* as(owner.token, "identity.removeMember", { userId: viewer.userId })
        assertError(yield* as(viewer.token, "identity.members"), SessionInvalid)
        const alone = yield* session({}, wallet)
        assert.notStrictEqual(alone.tenantId, owner.tenantId)
      })
    )

    it.effect("of two tenants sign in for the one that they name", () =>
      Effect.gen(function* () {
        const { as, signIn } = yield* SignInApi
        const [first, second] = [yield* session(), yield* session()]
        const walletId = `eip155:0:${second.wallet.address}`
        yield* as(first.token, "identity.invite", { walletId, role: "owner" })
        const there = yield* session({ tenantId: first.tenantId }, second.wallet)
        assert.strictEqual(there.tenantId, first.tenantId)
        assert.strictEqual((yield* session({}, second.wallet)).tenantId, second.tenantId, "the older membership")
        const stranger = yield* session()
        assertError(yield* signIn(stranger.wallet, { tenantId: first.tenantId }), PermissionDenied)
      })
    )

    it.effect("always include an owner, also when two leave at once", () =>
      Effect.gen(function* () {
        const { as } = yield* SignInApi
        const one = yield* session()
        const self = { walletId: `eip155:0:${one.wallet.address}`, role: "viewer" }
        assertError(yield* as(one.token, "identity.invite", self), ValidationFailed)
        assertError(yield* as(one.token, "identity.removeMember", { userId: one.userId }), ValidationFailed)
        const wallet = newWallet()
        yield* as(one.token, "identity.invite", { walletId: `eip155:0:${wallet.address}`, role: "owner" })
        const other = yield* session({}, wallet)
        yield* Effect.all(
          [
            as(one.token, "identity.removeMember", { userId: one.userId }),
            as(other.token, "identity.removeMember", { userId: other.userId })
          ],
          { concurrency: "unbounded" }
        )
        const left = yield* (yield* SqlClient.SqlClient)`
          SELECT 1 FROM tenant_members WHERE tenant_id = ${one.tenantId} AND role = 'owner'`
        assert.lengthOf(left, 1)
      })
    )
  })

  describe("keys", () => {
    it.effect("are made, shown once, used, listed and revoked by a signed-in owner", () =>
      Effect.gen(function* () {
        const { as } = yield* SignInApi
        const { authenticate } = yield* ApiKeys
        const { tenantId, token } = yield* session()
        const made = yield* as(token, "apiKeys.create", { name: "server", scopes: ["portfolios:read"] })
        const { apiKey, apiKeyId } = made.data
        assert.deepStrictEqual(made.data.scopes, ["strategies:read", "portfolios:read"])
        const caller = yield* authenticate(apiKey)
        assert.strictEqual(caller.tenantId, tenantId)
        const listed = (yield* as(token, "apiKeys.list")).data.keys
        assert.deepStrictEqual(listed[0].apiKeyId, apiKeyId)
        assert.notInclude(JSON.stringify(listed), apiKey)
        yield* as(token, "apiKeys.revoke", { apiKeyId })
        assert.isNotNull((yield* as(token, "apiKeys.list")).data.keys[0].revokedAt)
        const stranger = yield* session()
        const theirs = yield* as(stranger.token, "apiKeys.revoke", { apiKeyId })
        assert.strictEqual(theirs.status, 404)
      })
    )

    it.effect("have scopes above the default tier only when the tenant is granted them", () =>
      Effect.gen(function* () {
        const { as, now } = yield* SignInApi
        const { tenantId, token } = yield* session()
        const wanted = { name: "server", scopes: ["strategies:write"] }
        const refused = yield* as(token, "apiKeys.create", wanted)
        assertError(refused, PermissionDenied)
        assert.include(refused.error.message, "strategies:write")
        yield* (yield* Tenants).setEntitlements(tenantId, [standardScopes])
        const made = yield* as(token, "apiKeys.create", wanted)
        assert.include(made.data.scopes, "strategies:write")
        const past = { ...wanted, expiresAt: new Date(now().getTime() - 1).toISOString() }
        assertError(yield* as(token, "apiKeys.create", past), ValidationFailed, "expiresAt:")
        assertError(yield* as(token, "apiKeys.create", { name: "", scopes: ["no:scope"] }), ValidationFailed, "scopes")
      })
    )

    it.effect("are a hundred at most that are not revoked", () =>
      Effect.gen(function* () {
        const { as } = yield* SignInApi
        const { token } = yield* session()
        for (let count = 0; count < 100; count++)
          assert.strictEqual((yield* as(token, "apiKeys.create", { name: `${count}`, scopes: [] })).status, 200)
        assertError(yield* as(token, "apiKeys.create", { name: "more", scopes: [] }), ValidationFailed)
      })
    )
  })
})
