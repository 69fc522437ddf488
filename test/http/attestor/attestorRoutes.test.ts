/** The wire between the service and the attestor's process, over a real connection. */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { type AttestationRequest, PriceAttestor, RefusalCode } from "#domain/attestation/PriceAttestor.ts"
import { AttestorToken, attestorRoutes } from "#http/attestor/attestorRoutes.ts"
import { RemoteAttestor } from "#layers/attestor/RemoteAttestor.ts"

const token = "token-of-the-attestor-0123456789"
const guard = "0x4200000000000000000000000000000000000006" as EvmAddress
const known = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const unknown = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" as EvmAddress
const request: AttestationRequest = {
  chainId: 8453 as ChainId,
  guard,
  tokens: [known, unknown],
  notAfter: 1_800_000_000
}

const signed = { token: known, price: 10n ** 30n, time: 1_800_000_000, signature: `0x${"ab".repeat(65)}` }
const refused = { token: unknown, code: RefusalCode.sourceMissing, reason: "one gives no price" }
const asked: Array<AttestationRequest> = []

/** A process that signs for one token. */
class Served extends Context.Service<Served, { readonly url: string }>()("ballast/test/Served") {}

const served = Layer.effect(
  Served,
  Effect.map(HttpServer.HttpServer, ({ address }) => ({
    url: address._tag === "UnixPathAddress" ? "" : `http://127.0.0.1:${address.port}`
  }))
).pipe(
  Layer.provideMerge(HttpRouter.serve(attestorRoutes, { disableLogger: true, disableListenLog: true })),
  Layer.provide(
    Layer.succeed(PriceAttestor, {
      attest: (one) => Effect.sync(() => (asked.push(one), { signed: [signed], refused: [refused] }))
    })
  ),
  Layer.provide(Layer.succeed(AttestorToken, Redacted.make(token))),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

const attestBy = (url: string, secret = token) =>
  Effect.flatMap(PriceAttestor, ({ attest }) => attest(request)).pipe(
    Effect.provide(RemoteAttestor({ kind: "process", url, token: Redacted.make(secret) }))
  )

const post = (url: string, body: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  Effect.promise(async () => {
    const answer = await fetch(`${url}/v1/attestations`, { method: "POST", body, headers })
    return { status: answer.status, body: (await answer.json()) as { error: string; message: string } }
  })

layer(served, { excludeTestServices: true })("the attestor's process", (it) => {
  it.effect("is asked and answers what its port says, to the last digit", () =>
    Effect.gen(function* () {
      const { url } = yield* Served
      assert.deepStrictEqual(yield* attestBy(url), { signed: [signed], refused: [refused] })
      assert.deepStrictEqual(asked.at(-1), request)
    })
  )

  it.effect("signs for nobody without its token: then every price is refused", () =>
    Effect.gen(function* () {
      const { url } = yield* Served
      const before = asked.length
      const answer = yield* attestBy(url, "another-token-0123456789012")
      assert.deepStrictEqual(
        answer.refused.map(({ code, reason, token: one }) => [one, code, reason]),
        request.tokens.map((one) => [one, "UNAVAILABLE", "the attestor answered status 401"])
      )
      assert.isEmpty(answer.signed)
      assert.strictEqual((yield* post(url, "{}", {})).status, 401)
      assert.strictEqual(asked.length, before)
    })
  )

  it.effect("refuses what is no request, and names the field", () =>
    Effect.gen(function* () {
      const { url } = yield* Served
      assert.strictEqual((yield* post(url, "{")).status, 400)
      const { body, status } = yield* post(url, JSON.stringify({ ...request, tokens: [] }))
      assert.strictEqual(status, 400)
      assert.include(body.message, "tokens")
    })
  )

  it.effect("an attestor that is not there refuses every price", () =>
    Effect.gen(function* () {
      const { refused: all } = yield* attestBy("http://127.0.0.1:1")
      assert.deepStrictEqual(
        all.map(({ reason }) => reason),
        ["the attestor cannot be reached", "the attestor cannot be reached"]
      )
    })
  )

  it.effect("answers that it lives, and that there is no other route", () =>
    Effect.gen(function* () {
      const { url } = yield* Served
      const status = (path: string) => Effect.promise(async () => (await fetch(`${url}${path}`)).status)
      assert.strictEqual(yield* status("/health/live"), 200)
      assert.strictEqual(yield* status("/health/ready"), 200)
      assert.strictEqual(yield* status("/v1/other"), 404)
    })
  )
})
