/** The plain client of the procedures: one class of errors, whatever goes wrong, and what it sends. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { BallastError, connectProcedures } from "ballast/rpc"
import { kinds } from "#client/plain/procedures.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { makeProcedures } from "#rpc/client.ts"
import { describeProcedures } from "#rpc/describeProcedures.ts"
import { listening } from "#test/rpc/support/listening.ts"
import { makeSignInApi, newWallet, SignInApi } from "#test/rpc/support/SignInApi.ts"

it("the table of procedures says of each of the contract how it is called", () => {
  const described = describeProcedures(ClientProcedures).map(({ isAction, isRead, isStream, tag }) => [
    tag,
    isStream ? "stream" : isAction ? "action" : isRead ? "read" : "call"
  ])
  assert.deepStrictEqual(kinds, Object.fromEntries(described))
})

const failureOf = async (call: Promise<unknown>): Promise<BallastError> => {
  const error = await call.then(
    () => "answered",
    (error: unknown) => error
  )
  assert.instanceOf(error, BallastError)
  return error as BallastError
}

layer(makeSignInApi(), { excludeTestServices: true })("ballast/rpc", (it) => {
  it.effect(
    "signs a wallet in by the service's clock and makes a key; every refusal is a BallastError with its code",
    () =>
      Effect.gen(function* () {
        const { advance, handle, messageOf } = yield* SignInApi
        const baseUrl = yield* listening(handle)
        const wallet = newWallet()
        const anybody = connectProcedures({ baseUrl })
        // The service's clock is another than that of who signs.
        advance(30 * 86_400_000)
        const { expiresAt, nonce } = yield* Effect.promise(() => anybody.call("identity.nonce"))
        // As the README has it.
        const issuedAt = new Date(Date.parse(expiresAt) - 600_000)
        const message = yield* messageOf(wallet, { nonce, issuedAt })
        const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
        const { token } = yield* Effect.promise(() => anybody.call("identity.signIn", { message, signature }))
        const member = anybody.as(token!)
        const { apiKey } = yield* Effect.promise(() => member.call("apiKeys.create", { name: "server", scopes: [] }))
        assert.match(apiKey, /^bk_/u)

        const codes = yield* Effect.promise(() =>
          Promise.all(
            [
              anybody.call("apiKeys.list"),
              anybody.call("identity.signIn", { message, signature }),
              anybody.call("identity.signIn", { message: "", signature }),
              connectProcedures({ baseUrl: "http://127.0.0.1:9", retries: 0 }).call("identity.nonce")
            ].map((call) => failureOf(call).then(({ code, details }) => [code, details[0]?.split(":", 1)[0]]))
          )
        )
        assert.deepStrictEqual(codes, [
          ["API_105", undefined],
          ["API_107", "nonce"],
          ["API_400", "message"],
          ["UNREACHABLE", undefined]
        ])
      })
  )

  it.effect("Effect's client fails with a class of the API for invalid input, which is not sent", () =>
    Effect.gen(function* () {
      const anybody = yield* makeProcedures({ baseUrl: "http://127.0.0.1:9" })
      const refused = yield* Effect.flip(anybody("cryptoMarketData.getNews", { limit: 2_100 }))
      assert.strictEqual(refused._tag, "ValidationFailed")
      assert.match((refused as { details?: ReadonlyArray<string> }).details!.join(), /^limit: /u)
      const unreachable = yield* Effect.flip(anybody("identity.nonce", undefined))
      assert.strictEqual(unreachable._tag, "RpcClientError")
    })
  )
})

describe("a fault of the service", () => {
  it("is a BallastError with API_600", async () => {
    const body = { error: { json: { code: "API_600", message: "The service has a fault" } } }
    const fetch = async () => Response.json(body, { status: 500 })
    const { code, status } = await failureOf(
      connectProcedures({ baseUrl: "http://b.test", fetch }).call("identity.nonce")
    )
    assert.deepStrictEqual([code, status], ["API_600", 500])
  })

  it.effect("is Internal to Effect's client", () =>
    Effect.gen(function* () {
      const baseUrl = yield* listening(async (request) => {
        const { id } = JSON.parse((await request.text()).split("\n", 1)[0]!)
        const exit = { _tag: "Failure", cause: [{ _tag: "Die", defect: "Internal error" }] }
        return new Response(`${JSON.stringify({ _tag: "Exit", requestId: id, exit })}\n`)
      })
      const client = yield* makeProcedures({ baseUrl })
      assert.strictEqual((yield* Effect.flip(client("identity.nonce", undefined)))._tag, "Internal")
    })
  )
})

it("credentials are sent where told, and the token as a bearer's", async () => {
  const sent: Array<RequestInit> = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    sent.push(init!)
    return Response.json({ result: { data: { json: { nonce: "n" } } } })
  }
  await connectProcedures({ baseUrl: "http://b.test", fetch }).call("identity.nonce")
  const told = connectProcedures({ baseUrl: "http://b.test", fetch, credentials: "include" })
  await told.as("bs_token").call("identity.nonce")
  assert.deepStrictEqual(
    sent.map(({ credentials }) => credentials),
    [undefined, "include"]
  )
  assert.strictEqual(new Headers(sent[1]!.headers).get("authorization"), "Bearer bs_token")
})

it("a stream of an operation ends with its result, over a connection that breaks", async () => {
  const event = (sequence: number, kind: string) => ({ kind, sequence, cursor: `1-${sequence}`, payload: {} })
  const frame = (sequence: number, kind: string) =>
    `id: 1-${sequence}\ndata: ${JSON.stringify({ result: { data: { json: event(sequence, kind) } } })}\n\n`
  const bodies = [
    frame(1, "execution.snapshot") + frame(2, "execution.progress"),
    frame(2, "execution.snapshot") + frame(2, "execution.progress") + frame(3, "execution.result")
  ]
  const asked: Array<readonly [string | null, unknown]> = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const body = bodies[asked.length]!
    asked.push([new Headers(init!.headers).get("last-event-id"), JSON.parse(init!.body as string)])
    return new Response(body, { headers: { "content-type": "text/event-stream" } })
  }
  const kindsSeen: Array<string> = []
  const procedures = connectProcedures({ baseUrl: "http://b.test", fetch })
  for await (const { kind } of procedures.stream("v2.executions.stream", { operationId: "op_1" })) kindsSeen.push(kind)
  assert.deepStrictEqual(kindsSeen, ["execution.snapshot", "execution.progress", "execution.result"])
  const input = { json: { operationId: "op_1" } }
  assert.deepStrictEqual(asked, [
    [null, input],
    ["1-2", input]
  ])
})
