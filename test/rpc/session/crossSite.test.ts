/** What pages of other origins make a browser send: who asks is read off the request itself, never off its body. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PermissionDenied, SignInRefused } from "#domain/errors/Errors.ts"
import { assertError, makeSignInApi, newWallet, origin, session, SignInApi } from "#test/rpc/support/SignInApi.ts"

const evil = "https://evil.example.com"
const json = { "content-type": "application/x-ndjson" }

interface NativeAnswer {
  readonly status: number
  readonly headers: Headers
  readonly lines: ReadonlyArray<any>
}

/** A request of Effect's RPC with one message. */
const native = Effect.fnUntraced(function* (
  message: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {}
) {
  const { handle } = yield* SignInApi
  return yield* Effect.promise(async (): Promise<NativeAnswer> => {
    const body = `${JSON.stringify({ _tag: "Request", id: "1", headers: [], ...message })}\n`
    const response = await handle(
      new Request("http://api.test/v1/rpc", { method: "POST", headers: { ...json, ...headers }, body })
    )
    const text = await response.text()
    const lines =
      text === ""
        ? []
        : text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line))
    return { status: response.status, headers: response.headers, lines }
  })
})

/** A session that a browser keeps in its cookie, and how many members its tenant has. */
const inBrowser = Effect.gen(function* () {
  const { call, messageOf } = yield* SignInApi
  const wallet = newWallet()
  const message = yield* messageOf(wallet)
  const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
  const answer = yield* call("identity.signIn", { message, signature, delivery: "cookie" }, { origin })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.error))
  const cookie = answer.headers.get("set-cookie")!.split(";")[0]!
  const sql = yield* SqlClient.SqlClient
  const invited = Effect.map(
    sql<{ readonly count: number }>`
      SELECT count(*)::int AS count FROM tenant_members WHERE tenant_id = ${answer.data.tenantId}`,
    ([row]) => row!.count
  )
  return { cookie, invited }
})

const invitation = { tag: "identity.invite", payload: { walletId: `eip155:0:${newWallet().address}`, role: "owner" } }

layer(makeSignInApi(), { excludeTestServices: true })("calls over Effect's RPC by a browser's session", (it) => {
  it.effect("are judged by the origin of the request", () =>
    Effect.gen(function* () {
      const { cookie, invited } = yield* inBrowser
      for (const headers of [{ origin: evil }, { origin: "null" }, { "sec-fetch-site": "cross-site" }, {}]) {
        const { lines, status } = yield* native(invitation, { cookie, ...headers } as Record<string, string>)
        assert.deepStrictEqual([status, lines[0].exit.cause?.[0].error?._tag], [200, "PermissionDenied"])
      }
      assert.strictEqual(yield* invited, 1)
      const own = yield* native({ tag: "identity.members", payload: null }, { cookie, origin })
      assert.strictEqual(own.lines[0].exit._tag, "Success")
    })
  )

  for (const [name, value] of [
    ["origin", origin],
    ["Origin", origin],
    ["sec-fetch-site", "same-origin"],
    ["cookie", "__Host-ballast_session=bs_other"],
    ["authorization", "Bearer bs_other"],
    ["x-api-key", "bk_test_other"],
    ["x-forwarded-for", "10.0.0.1"]
  ] as const)
    it.effect(`are refused where the message has the header ${name}, and nothing is done`, () =>
      Effect.gen(function* () {
        const { cookie, invited } = yield* inBrowser
        for (const page of [evil, origin]) {
          const message = { ...invitation, headers: [[name, value]] }
          const { lines, status } = yield* native(message, { cookie, origin: page, "sec-fetch-site": "same-site" })
          assert.strictEqual(status, 400)
          assert.strictEqual(lines[0].error.json.code, "API_400")
          assert.include(lines[0].error.json.details[0], `headers: ${name} is a header of the request`)
        }
        assert.strictEqual(yield* invited, 1)
      })
    )

  it.effect("are 415 in a type that a page may send unasked, or in none, on both wires", () =>
    Effect.gen(function* () {
      const { handle } = yield* SignInApi
      const { cookie, invited } = yield* inBrowser
      const line = `${JSON.stringify({ _tag: "Request", id: "1", headers: [], ...invitation })}\n`
      const types = [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data"
      ]
      for (const type of [...types, undefined])
        for (const [path, body] of [
          ["/v1/rpc", line],
          ["/v1/rpc/identity.invite", JSON.stringify({ json: invitation.payload })]
        ] as const) {
          const headers = { cookie, origin, ...(type === undefined ? {} : { "content-type": type }) }
          const answer = yield* Effect.promise(async () => {
            // Bytes, for which no type is written by itself.
            const sent = new Request(`http://api.test${path}`, { method: "POST", headers, body: Buffer.from(body) })
            const response = await handle(sent)
            return { status: response.status, body: (await response.json()) as any }
          })
          assert.strictEqual(answer.status, 415, `${path} ${type}`)
          assert.strictEqual(answer.body.error.json.code, "API_400")
          assert.match(answer.body.error.json.details[0], /^content-type: /u)
        }
      assert.strictEqual(yield* invited, 1)
    })
  )
})

layer(makeSignInApi(), { excludeTestServices: true })("signing in with the session in a cookie", (it) => {
  const signed = Effect.gen(function* () {
    const { messageOf } = yield* SignInApi
    const wallet = newWallet()
    const message = yield* messageOf(wallet)
    return { message, signature: yield* Effect.promise(() => wallet.signMessage({ message })) }
  })

  it.effect("is refused over Effect's RPC, where no cookie can be set, without opening a session", () =>
    Effect.gen(function* () {
      const payload = yield* signed
      for (const headers of [{ origin }, {}] as ReadonlyArray<Record<string, string>>) {
        const message = { tag: "identity.signIn", payload: { ...payload, delivery: "cookie" } }
        const { headers: answered, lines } = yield* native(message, headers)
        const [{ exit }] = lines
        assert.deepStrictEqual([exit._tag, exit.cause[0].error._tag], ["Failure", "ValidationFailed"])
        assert.match(exit.cause[0].error.details[0], /^delivery: /u)
        assert.isNull(answered.get("set-cookie"))
        assert.notInclude(JSON.stringify(lines), "bs_")
      }
      // The nonce still serves.
      const { lines } = yield* native({ tag: "identity.signIn", payload })
      assert.strictEqual(lines[0].exit._tag, "Success")
    })
  )

  it.effect(
    "is refused to pages of origins that are not named, which would sign their visitor in as somebody else",
    () =>
      Effect.gen(function* () {
        const { call } = yield* SignInApi
        const input = { ...(yield* signed), delivery: "cookie" }
        for (const headers of [
          { origin: evil, "sec-fetch-site": "same-site" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site" }
        ]) {
          const refused = yield* call("identity.signIn", input, headers as Record<string, string>)
          assertError(refused, PermissionDenied)
          assert.isNull(refused.headers.get("set-cookie"))
        }
        const kept = yield* call("identity.signIn", input, { origin })
        assert.strictEqual(kept.status, 200)
        assert.match(kept.headers.get("set-cookie")!, /^__Host-ballast_session=bs_/u)
        assert.isNull(kept.data.token)
        assertError(yield* call("identity.signIn", input, { origin }), SignInRefused, "nonce: used")
      })
  )

  it.effect("no cache keeps an answer with a token", () =>
    Effect.gen(function* () {
      const { answer } = yield* session()
      assert.strictEqual(answer.headers.get("cache-control"), "private, no-store")
      const { headers, lines } = yield* native({ tag: "identity.signIn", payload: yield* signed })
      assert.deepStrictEqual([lines[0].exit._tag, headers.get("cache-control")], ["Success", "private, no-store"])
    })
  )
})
