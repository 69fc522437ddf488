/** Users, members and wallet sessions, with many calls at once. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { evmWallet } from "#domain/values/Caip.ts"
import { type Session, SessionStore } from "#domain/identity/SessionStore.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { makeSessionId, makeTenantId, makeUserId } from "#domain/values/Ids.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, newAddress, noon } from "#test/layers/sql/fixtures.ts"

const hour = 3_600_000
const hashOf = (text: string) => new TextEncoder().encode(text.padEnd(32, "."))
const alone = (hash: Uint8Array) => ({ current: hash, other: null })

const newUser = Effect.gen(function* () {
  return { userId: yield* makeUserId, walletId: evmWallet(newAddress()), createdAt: noon }
})

const newTenant = Effect.gen(function* () {
  const tenantId = yield* makeTenantId
  return { tenantId, name: "0x12...34", email: "", entitlements: [], createdAt: noon, disabledAt: null }
})

/** A user who owns a tenant. */
const entered = Effect.gen(function* () {
  const [member] = yield* (yield* UserStore).enter(yield* newUser, yield* newTenant)
  return member
})

const sessionOf = Effect.fnUntraced(function* (
  member: Pick<Session, "userId" | "tenantId">,
  createdAt: DateTime.Utc = noon
) {
  return {
    sessionId: yield* makeSessionId,
    userId: member.userId,
    tenantId: member.tenantId,
    createdAt,
    rotatedAt: createdAt,
    usedAt: createdAt,
    expiresAt: DateTime.add(createdAt, { hours: 1 })
  } satisfies Session
})

const atOnce = { concurrency: "unbounded" } as const

eachDatabase("Users and sessions", (it) => {
  it.effect("thirty first entries of one wallet at once make one user with one tenant, and leave no other tenant", () =>
    Effect.gen(function* () {
      const users = yield* UserStore
      const wallet = yield* newUser
      const attempts = yield* Effect.replicateEffect(Effect.all({ userId: makeUserId, tenant: newTenant }), 30)
      const entries = yield* Effect.forEach(
        attempts,
        ({ tenant, userId }) => users.enter({ ...wallet, userId }, tenant),
        atOnce
      )
      const seen = new Set(entries.map(([member]) => `${member.userId} ${member.tenantId}`))
      assert.strictEqual(seen.size, 1)
      assert.isTrue(entries.every((memberships) => memberships.length === 1))
      const stored = new Set((yield* (yield* TenantStore).listTenants).map(({ tenantId }) => tenantId))
      assert.lengthOf(
        attempts.filter(({ tenant }) => stored.has(tenant.tenantId)),
        1
      )
    })
  )

  it.effect("thirty sessions with one nonce at once are one session", () =>
    Effect.gen(function* () {
      const sessions = yield* SessionStore
      const member = yield* entered
      const nonce = { nonce: `nonce of ${member.userId}`, expiresAt: after(hour) }
      const opened = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) =>
          Effect.flatMap(sessionOf(member), (session) =>
            sessions.open({ ...session, hash: hashOf(`${member.userId.slice(-20)} ${index}`), nonce }, 50)
          ),
        atOnce
      )
      assert.lengthOf(opened.filter(Boolean), 1)
    })
  )

  it.effect("a token is replaced by one of thirty calls at once, and both tokens find the session", () =>
    Effect.gen(function* () {
      const sessions = yield* SessionStore
      const member = yield* entered
      const session = yield* sessionOf(member)
      const name = member.userId.slice(-20)
      yield* sessions.open({ ...session, hash: hashOf(name), nonce: { nonce: name, expiresAt: after(hour) } }, 20)
      const next = (index: number) => hashOf(`${name} ${index}`)
      const rotated = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) => sessions.rotate({ sessionId: session.sessionId, from: hashOf(name), to: next(index), at: after(1) }),
        atOnce
      )
      assert.lengthOf(rotated.filter(Boolean), 1)
      const current = Option.getOrThrow(yield* sessions.find(alone(next(rotated.indexOf(true)))))
      const former = Option.getOrThrow(yield* sessions.find(alone(hashOf(name))))
      assert.deepStrictEqual([current.isCurrent, former.isCurrent], [true, false])
      assert.deepStrictEqual(current.session, { ...session, rotatedAt: after(1) })
      assert.deepStrictEqual(current.member, member)
      assert.isTrue(Option.isNone(yield* sessions.find(alone(next(rotated.indexOf(false))))))
      yield* sessions.end(session.sessionId, after(2))
      assert.isTrue(Option.isNone(yield* sessions.find(alone(hashOf(name)))))
    })
  )

  it.effect("ten owners who all leave at once leave one", () =>
    Effect.gen(function* () {
      const users = yield* UserStore
      const first = yield* entered
      const { tenantId } = first
      for (let count = 1; count < 10; count++)
        yield* users.setMember({ ...(yield* newUser), tenantId, role: "owner", joinedAt: noon })
      const members = yield* users.listMembers(first.tenantId)
      assert.lengthOf(members, 10)
      yield* Effect.forEach(members, ({ userId }) => users.removeMember(first.tenantId, userId), atOnce)
      const left = yield* users.listMembers(first.tenantId)
      assert.deepStrictEqual(
        left.map(({ role }) => role),
        ["owner"]
      )
    })
  )

  it.effect("who is no member any more has no session", () =>
    Effect.gen(function* () {
      const [users, sessions] = [yield* UserStore, yield* SessionStore]
      const owner = yield* entered
      const guest = yield* newUser
      const member = Option.getOrThrow(
        yield* users.setMember({ ...guest, tenantId: owner.tenantId, role: "viewer", joinedAt: noon })
      )
      const name = member.userId.slice(-20)
      const nonce = { nonce: name, expiresAt: after(hour) }
      yield* sessions.open({ ...(yield* sessionOf(member)), hash: hashOf(name), nonce }, 20)
      assert.isTrue(Option.isSome(yield* sessions.find(alone(hashOf(name)))))
      assert.isTrue(yield* users.removeMember(owner.tenantId, member.userId))
      assert.isTrue(Option.isNone(yield* sessions.find(alone(hashOf(name)))))
      assert.isTrue(Option.isNone(yield* users.findMember(owner.tenantId, member.userId)))
    })
  )
})
