/** What only a socket shows: the routes on a real server, in the lean context that requests have there. */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"
import { BodyTooLarge } from "#domain/errors/Errors.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { ServeRoutes } from "#http/ServeRoutes.ts"
import { among, unlimited } from "#test/api/support/Api.ts"

const lines: Array<Readonly<Record<string, unknown>>> = []

/** What a program says of itself and of its log, around its server. */
const program = Layer.merge(
  Logger.layer([
    Logger.make<unknown, void>(({ fiber, message }) => {
      lines.push({ message: String(message), ...fiber.getRef(References.CurrentLogAnnotations) })
    })
  ]),
  Layer.succeed(References.CurrentLogAnnotations, { process: "api" })
)

const Served = among(
  ServeRoutes([]).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))),
  unlimited,
  { level: "Info" }
).pipe(Layer.provide(program))

const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) => {
  const { port } = address as { readonly port: number }
  return `http://127.0.0.1:${port}`
})

const send = Effect.fnUntraced(function* (path: string, init?: RequestInit) {
  const url = `${yield* baseUrl}${path}`
  return yield* Effect.promise(async () => {
    const response = await fetch(url, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
})

const newKey = Effect.gen(function* () {
  const tenants = yield* Tenants
  const { tenantId } = yield* tenants.create({ name: "Northwind", email: "ops@northwind.test", entitlements: [] })
  const { secret } = yield* tenants.createKey(tenantId, { name: "k", scopes: ["strategies:write"], expiresAt: null })
  return Redacted.value(secret)
})

layer(Served, { excludeTestServices: true })("server", (it) => {
  it.effect("answers with the headers of every answer", () =>
    Effect.gen(function* () {
      const { status, headers, text } = yield* send("/v2/whoami", { headers: { "x-api-key": yield* newKey } })
      assert.strictEqual(status, 200, text)
      for (const name of [
        "x-correlation-id",
        "x-request-id",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset"
      ]) {
        assert.isTrue(headers.has(name), name)
      }
    })
  )

  it.effect("logs in the request by the program's loggers, at its level and under its name", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* send("/v2/whoami")
      assert.strictEqual(status, 401)
      const logged = lines.filter(({ correlationId }) => correlationId === headers.get("x-correlation-id"))
      assert.lengthOf(logged, 1)
      assert.deepInclude(logged[0], { message: "Refused", process: "api", route: "/v2/whoami" })
    })
  )

  it.effect("reads from the database in the request", () =>
    Effect.gen(function* () {
      const { status, text } = yield* send("/v2/strategies", { headers: { "x-api-key": yield* newKey } })
      assert.strictEqual(status, 200, text)
      assert.deepStrictEqual(JSON.parse(text), { success: true, data: { strategies: [] }, nextCursor: null })
    })
  )

  it.effect("refuses a large body, announced or not", () =>
    Effect.gen(function* () {
      const headers = { "x-api-key": yield* newKey, "content-type": "application/json" }
      const large = "x".repeat(70_000)
      const stream = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(large))
          controller.close()
        }
      })
      for (const init of [{ body: large }, { body: stream, duplex: "half" }]) {
        const { status, text } = yield* send("/v2/strategies", { method: "POST", headers, ...init } as RequestInit)
        assert.strictEqual(status, 413)
        assert.strictEqual(JSON.parse(text).error.code, BodyTooLarge.contract.code)
      }
    })
  )

  it.effect("gives the reference page a tag, and nobody who has it gets it again", () =>
    Effect.gen(function* () {
      const first = yield* send("/v2/docs")
      assert.strictEqual(first.status, 200)
      const etag = first.headers.get("etag")!
      assert.match(etag, /^"[0-9a-f]{32}"$/)
      assert.include(first.headers.get("cache-control"), "max-age")
      const again = yield* send("/v2/docs", { headers: { "if-none-match": `"other", ${etag}` } })
      assert.deepStrictEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag])
      assert.strictEqual((yield* send("/v2/docs", { headers: { "if-none-match": '"other"' } })).status, 200)
    })
  )

  it.effect("answers HEAD without a body, and probes", () =>
    Effect.gen(function* () {
      const { status, headers, text } = yield* send("/v2/scopes", { method: "HEAD" })
      assert.strictEqual(status, 200)
      assert.strictEqual(text, "")
      assert.isTrue(headers.has("x-request-id"))
      assert.strictEqual((yield* send("/health/ready")).status, 200)
    })
  )
})
