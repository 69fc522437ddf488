/** The published descriptions of v1 describe every procedure that the wires serve, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { HttpEffect, HttpRouter, HttpServer } from "effect/http"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { DocsLive } from "#http/docs/DocsLive.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { MarketDataStreamProcedures } from "#rpc/MarketDataStream.ts"
import { procedureDescriptions, procedureRoutes } from "#rpc/Procedures.ts"
import { hardForGenerators } from "#test/api/support/hardForGenerators.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Document as the service publishes it. */
const published = Effect.runPromise(
  Effect.gen(function* () {
    const httpEffect = yield* HttpRouter.toHttpEffect(DocsLive)
    const handle = HttpEffect.toWebHandlerWith(Context.empty())(httpEffect as typeof httpEffect & Effect.Effect<never>)
    const read = (path: string) =>
      Effect.promise(async () => {
        const response = await handle(new Request(`http://api.test${path}`))
        return { type: response.headers.get("content-type") ?? "", text: await response.text() }
      })
    return {
      document: JSON.parse((yield* read("/v1/openapi.json")).text) as any,
      primer: yield* read("/v1/llms.txt"),
      page: yield* read("/v1/docs")
    }
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        procedureDescriptions,
        Layer.succeed(DocsSettings, { publicUrl: "https://api.ballast.example" }),
        HttpServer.layerServices,
        Digest.layerWebCrypto
      )
    ),
    Effect.scoped
  )
)

const procedures = [...ClientProcedures.requests.keys(), ...MarketDataStreamProcedures.requests.keys()]

describe("the descriptions of v1", () => {
  it("name each schema for itself: a number behind a name says that two share it", async () => {
    const { document } = await published
    assert.deepStrictEqual(
      Object.keys(document.components.schemas).filter((name) => /_\d+$/u.test(name)),
      []
    )
  })

  it("have each procedure of the interface's wire once, under the keys and errors that its contract has", async () => {
    const { document } = await published
    const described = Object.keys(document.paths).filter((path) => path.startsWith("/v1/rpc/"))
    assert.sameMembers(
      described,
      procedures.map((tag) => `/v1/rpc/${tag}`)
    )
    const served = procedureRoutes.filter(([method, path]) => method === "POST" && path !== "/v1/rpc")
    assert.sameMembers(
      described,
      served.map(([, path]) => path)
    )
    const { post: get } = document.paths["/v1/rpc/v2.executions.get"]
    assert.deepStrictEqual(get.security, [{ apiKey: [] }, { session: [] }])
    assert.include(get.description, "?input=")
    assert.include(get.responses["404"].description, "API_006")
    for (const code of ["API_101", "API_102", "API_103", "API_105"])
      assert.include(get.responses["401"].description, code)
    const { post: submit } = document.paths["/v1/rpc/v2.portfolio.actions.submit"]
    assert.deepStrictEqual(submit.requestBody.content["application/json"].schema.required, ["input"])
    assert.deepStrictEqual(submit.security, [{ session: [] }])
    assert.property(document.components.schemas.ActionReplayMismatch.properties.error.properties, "code")
    const { post: stream } = document.paths["/v1/rpc/v2.executions.stream"]
    assert.property(stream.responses["200"].content, "text/event-stream")
    assert.deepStrictEqual(document.paths["/v1/rpc/assets.searchForTokens"].post.security, [])
    assert.deepStrictEqual(document.paths["/v1/rpc/marketDataStream.adminStatus"].post.security, [{ operator: [] }])
  })

  it("have nothing that is hard for generators: lists have items, parts a type, patterns no escaped slash", async () => {
    const { document } = await published
    assert.deepStrictEqual(hardForGenerators(document), [])
    const { json } =
      document.paths["/v1/rpc/assets.browseAssets"].post.responses["200"].content["application/json"].schema.properties
        .result.properties.data.properties
    assert.property(json.properties.items.items.properties, "assetId")
  })

  it("say of each procedure that can find a session invalid that it needs one, and of no other", async () => {
    const { document } = await published
    const calls = Object.entries<any>(document.paths).filter(([path]) => path.startsWith("/v1/rpc/"))
    const needing = calls.filter(([, { post }]) => post.security.some((scheme: object) => "session" in scheme))
    const refusing = calls.filter(([, { post }]) => post.responses["401"]?.description.includes("API_105") === true)
    assert.deepStrictEqual(
      needing.map(([path]) => path),
      refusing.map(([path]) => path)
    )
    for (const name of ["identity.session", "identity.signOut"]) {
      const { description, security } = document.paths[`/v1/rpc/${name}`].post
      assert.deepStrictEqual(security, [{ session: [] }])
      assert.include(description, "Needs a wallet session.")
    }
    assert.include(document.paths["/v1/rpc/identity.session"].post.description, "Rate limit tier: global.")
    assert.notInclude(document.paths["/v1/rpc/identity.signOut"].post.description, "Rate limit tier")
  })

  it("pass the recommended rules of redocly", async () => {
    const folder = await mkdtemp(join(tmpdir(), "ballast-test-"))
    try {
      const file = join(folder, "openapi.json")
      await writeFile(file, JSON.stringify((await published).document))
      const { stderr, stdout } = await promisify(execFile)(
        process.execPath,
        [`${root}/node_modules/@redocly/cli/bin/cli.js`, "lint", file],
        { cwd: root, env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } }
      )
      assert.notMatch(`${stdout}${stderr}`, /\d+ (error|warning)/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it("are a primer and a page too, which loads nothing from elsewhere", async () => {
    const { page, primer } = await published
    assert.match(primer.type, /^text\/plain; charset=utf-8/)
    assert.match(primer.text, /^# \S/)
    for (const tag of procedures) assert.include(primer.text, `[POST /v1/rpc/${tag}](`)
    assert.include(primer.text, "/v1/ai/executions/{operationId}/ag-ui-stream")
    assert.match(page.type, /^text\/html/)
    assert.notMatch(page.text, /<script[^>]+src=|<link[^>]+href=/)
    assert.include(page.text, "v2.executions.stream")
  })
})
