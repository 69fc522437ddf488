/** Signing in with a wallet, and its session, over the wires. Source: ERC-4361. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PermissionDenied, SessionInvalid, SignInRefused, TenantDisabled } from "#domain/errors/Errors.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import {
  assertError,
  makeSignInApi,
  newWallet,
  origin,
  session,
  SignInApi,
  type SignInOptions
} from "#test/rpc/support/SignInApi.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

layer(makeSignInApi(), { excludeTestServices: true })("identity", (it) => {
  describe("signing in", () => {
    it.effect("makes a wallet a user and the owner of a tenant, the first time and no other", () =>
      Effect.gen(function* () {
        const { as } = yield* SignInApi
        const first = yield* session()
        const again = yield* session({}, first.wallet)
        const { expiresAt, token, ...view } = first.answer.data
        assert.deepStrictEqual(view, {
          userId: again.userId,
          walletId: `eip155:0:${first.wallet.address}`,
          tenantId: again.tenantId,
          role: "owner",
          delivery: "bearer"
        })
        assert.match(token, /^bs_[\w-]{43}$/u)
        assert.notStrictEqual(again.token, token)
        const shown = yield* as(token, "identity.session")
        assert.deepStrictEqual(shown.data, { ...first.answer.data, token: null, expiresAt })
      })
    )

    it.effect("twenty first times at once make one user and one tenant", () =>
      Effect.gen(function* () {
        const wallet = newWallet()
        const all = yield* Effect.all(
          Array.from({ length: 20 }, () => session({}, wallet)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.map(({ tenantId, userId }) => `${tenantId} ${userId}`)).size, 1)
      })
    )

    it.effect("refuses a message of which any field is wrong, and names the field", () =>
      Effect.gen(function* () {
        const { now, signIn } = yield* SignInApi
        const at = (milliseconds: number) => new Date(now().getTime() + milliseconds)
        const wrong: ReadonlyArray<readonly [SignInOptions["fields"] & object, string]> = [
          [{ domain: "evil.example.com" }, "domain:"],
          [{ uri: "https://evil.example.com/login" }, "uri:"],
          [{ chainId: 137 }, "chainId: expected one of 1, 8453"],
          [{ issuedAt: at(2 * minute) }, "issuedAt: is in the future"],
          [{ issuedAt: at(-11 * minute) }, "issuedAt: is more than 10 minutes ago"],
          [{ expirationTime: at(-1) }, "expirationTime:"],
          [{ notBefore: at(2 * minute) }, "notBefore:"],
          [{ nonce: "0123456789abcdef" }, "nonce:"],
          [{ nonce: "0".repeat(66) }, "nonce:"]
        ]
        for (const [fields, detail] of wrong) assertError(yield* signIn(newWallet(), { fields }), SignInRefused, detail)
        const right = { chainId: 8453, expirationTime: at(hour), notBefore: at(-1), statement: "Terms: https://x.test" }
        assert.strictEqual((yield* signIn(newWallet(), { fields: right })).status, 200)
      })
    )

    it.effect("a nonce serves once, though fifty ask with it at once", () =>
      Effect.gen(function* () {
        const { call, messageOf } = yield* SignInApi
        const wallet = newWallet()
        const message = yield* messageOf(wallet)
        const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
        const answers = yield* Effect.all(
          Array.from({ length: 50 }, () => call("identity.signIn", { message, signature })),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          answers.filter(({ status }) => status === 200),
          1
        )
        for (const answer of answers) if (answer.status !== 200) assertError(answer, SignInRefused, "nonce: used")
      })
    )

    it.effect("a nonce serves for ten minutes, and is forgotten once its time is over", () =>
      Effect.gen(function* () {
        const { advance, call, messageOf, signIn } = yield* SignInApi
        const sql = yield* SqlClient.SqlClient
        const { expiresAt, nonce } = (yield* call("identity.nonce")).data
        const wallet = newWallet()
        yield* session({}, wallet)
        const message = yield* messageOf(wallet)
        advance(10 * minute + 1)
        assertError(yield* signIn(wallet, { fields: { nonce } }), SignInRefused, "nonce:")
        const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
        assertError(yield* call("identity.signIn", { message, signature }), SignInRefused, "issuedAt:")
        assert.isBelow(Date.parse(expiresAt), Date.now() + 11 * minute)
        for (let count = 0; count < 30; count++) yield* session({}, wallet)
        const kept = yield* sql<{ readonly count: number }>`
          SELECT count(*)::int AS count FROM used_nonces WHERE expires_at < ${new Date(Date.now() + 9 * minute)}`
        assert.strictEqual(kept[0]!.count, 0)
      })
    )
  })

  describe("a session", () => {
    it.effect("ends when its holder signs out", () =>
      Effect.gen(function* () {
        const { as, call } = yield* SignInApi
        const { token } = yield* session()
        assert.deepStrictEqual((yield* as(token, "identity.signOut")).data, { delivery: "ended", token: null })
        assertError(yield* as(token, "identity.session"), SessionInvalid)
        for (const authorization of ["", "Bearer", `Basic ${token}`, `Bearer ${token}x`, "Bearer bs_guess"])
          assertError(yield* call("identity.members", {}, { authorization }), SessionInvalid)
      })
    )

    it.effect("ends after a week without use, after 30 days, and when its message says so", () =>
      Effect.gen(function* () {
        const { advance, as, now } = yield* SignInApi
        const idle = yield* session()
        const used = yield* session()
        const short = yield* session({ fields: { expirationTime: new Date(now().getTime() + 2 * day) } })
        const is = Effect.fnUntraced(function* (token: string) {
          return (yield* as(token, "identity.members")).status === 200
        })
        advance(2 * day)
        assert.isFalse(yield* is(short.token))
        for (let passed = 2; passed < 7; passed++) {
          assert.isTrue(yield* is(used.token))
          advance(day)
        }
        assert.isTrue(yield* is(used.token))
        assert.isFalse(yield* is(idle.token), "a week without use")
        for (let passed = 7; passed < 30; passed++) {
          assert.isTrue(yield* is(used.token))
          advance(day)
        }
        assert.isFalse(yield* is(used.token), "thirty days")
      })
    )

    it.effect(
      "gets another token after a day; the one before works for a minute, and after that ends the session",
      () =>
        Effect.gen(function* () {
          const { advance, as } = yield* SignInApi
          const { token } = yield* session()
          advance(day)
          const renewed = (yield* as(token, "identity.session")).data.token as string
          assert.match(renewed, /^bs_/u)
          assert.notStrictEqual(renewed, token)
          assert.isNull((yield* as(token, "identity.session")).data.token, "the one before gets no other")
          assert.isNull((yield* as(renewed, "identity.session")).data.token)
          advance(minute + 1)
          assert.strictEqual((yield* as(renewed, "identity.members")).status, 200)
          assertError(yield* as(token, "identity.members"), SessionInvalid)
          assertError(yield* as(renewed, "identity.members"), SessionInvalid)
        })
    )

    it.effect("is one of twenty at most; the oldest ends", () =>
      Effect.gen(function* () {
        const { advance, as } = yield* SignInApi
        const first = yield* session()
        const others = []
        for (let count = 0; count < 20; count++) {
          advance(1)
          others.push(yield* session({}, first.wallet))
        }
        assertError(yield* as(first.token, "identity.members"), SessionInvalid)
        for (const { token } of others) assert.strictEqual((yield* as(token, "identity.members")).status, 200)
      })
    )

    it.effect("is in no table by its token", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { token } = yield* session()
        const rows = yield* sql`SELECT * FROM wallet_sessions`
        assert.isAbove(rows.length, 0)
        const text = Buffer.from(JSON.stringify(rows)).toString("latin1")
        assert.notInclude(text, token)
        assert.notInclude(text, token.slice(3))
        assert.notInclude(text, Buffer.from(token).toString("hex"))
      })
    )

    it.effect("of a tenant that is disabled is refused, and nobody signs in for it", () =>
      Effect.gen(function* () {
        const { as, signIn } = yield* SignInApi
        const { tenantId, token, wallet } = yield* session()
        yield* (yield* Tenants).disable(tenantId)
        assertError(yield* as(token, "identity.members"), TenantDisabled)
        assertError(yield* signIn(wallet), TenantDisabled)
      })
    )
  })

  describe("a browser's session", () => {
    it.effect("is a cookie that no script reads and no other site sends", () =>
      Effect.gen(function* () {
        const { call } = yield* SignInApi
        const { answer } = yield* session({ delivery: "cookie" })
        assert.isNull(answer.data.token)
        const cookie = answer.headers.get("set-cookie")!
        assert.match(cookie, /^__Host-ballast_session=bs_[\w-]{43};/u)
        for (const attribute of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", `Max-Age=${30 * 86_400}`])
          assert.include(cookie, attribute)
        const sent = { cookie: cookie.slice(0, cookie.indexOf(";")) }
        assert.strictEqual((yield* call("identity.session", {}, { ...sent, origin })).data.delivery, "cookie")
        const same = yield* call("identity.members", {}, { ...sent, "sec-fetch-site": "same-origin" })
        assert.strictEqual(same.status, 200)
        const foreign = [
          { origin: "https://evil.example.com" },
          { origin: "https://evil.example.com", "sec-fetch-site": "same-origin" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site" },
          {}
        ]
        for (const headers of foreign)
          assertError(
            yield* call("identity.signOut", {}, { ...sent, ...headers } as Record<string, string>),
            PermissionDenied
          )
        const out = yield* call("identity.signOut", {}, { ...sent, origin })
        assert.match(out.headers.get("set-cookie")!, /^__Host-ballast_session=;.*(Max-Age=0|Expires=Thu, 01 Jan 1970)/u)
        assertError(yield* call("identity.session", {}, { ...sent, origin }), SessionInvalid)
      })
    )

    it.effect("is for pages of the service's origins alone: a browser lets no other read an answer", () =>
      Effect.gen(function* () {
        const { handle } = yield* SignInApi
        const preflight = (from: string) =>
          Effect.promise(() =>
            handle(
              new Request("http://api.test/v1/rpc/identity.session", {
                method: "OPTIONS",
                headers: {
                  origin: from,
                  "access-control-request-method": "POST",
                  "access-control-request-headers": "content-type"
                }
              })
            )
          )
        const ours = yield* preflight(origin)
        assert.strictEqual(ours.headers.get("access-control-allow-origin"), origin)
        assert.strictEqual(ours.headers.get("access-control-allow-credentials"), "true")
        assert.include(ours.headers.get("access-control-allow-headers")!, "content-type")
        const theirs = yield* preflight("https://evil.example.com")
        assert.notStrictEqual(theirs.headers.get("access-control-allow-origin"), "https://evil.example.com")
        assert.notStrictEqual(theirs.headers.get("access-control-allow-origin"), "*")
      })
    )
  })
})

layer(makeSignInApi([]), { excludeTestServices: true })("a deployment without pages", (it) => {
  it.effect("lets nobody sign in", () =>
    Effect.gen(function* () {
      const { signIn } = yield* SignInApi
      assertError(yield* signIn(newWallet()), SignInRefused, "domain: people sign in on no origin of this service")
    })
  )
})
