/**
 * The published descriptions. The OpenAPI documents are frozen below test/api/openapi, a file for each operation and
 * each schema; after an intended change write them anew with
 * `UPDATE_SNAPSHOT=1 npx vitest run test/api/documents.test.ts` and review the difference like code.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Errors from "#domain/errors/Errors.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { scopes } from "#domain/values/Scopes.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import {
  filesOf,
  readSnapshot,
  strayFiles,
  type Version,
  writeSnapshot,
  writeWhole
} from "#test/api/support/snapshots.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const document: any = JSON.parse(JSON.stringify(OpenApi.fromApi(V2)))
const documentV1: any = JSON.parse(JSON.stringify(OpenApi.fromApi(V1)))

const assertFrozen = (published: any, version: Version) => {
  if (process.env["UPDATE_SNAPSHOT"] === "1") writeSnapshot(version, published)
  assert.deepStrictEqual(published, readSnapshot(version), "the contract changed; see the head of this test")
  assert.deepStrictEqual(strayFiles(version), [], "files of operations and schemas that are gone")
}

const assertLintedClean = async (version: Version) => {
  const folder = await mkdtemp(join(tmpdir(), "ballast-openapi-"))
  const file = join(folder, `${version}.json`)
  try {
    writeWhole(version, file)
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [`${root}/node_modules/@redocly/cli/bin/cli.js`, "lint", file],
      {
        cwd: root,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
      }
    )
    assert.notMatch(`${stdout}${stderr}`, /\d+ (error|warning)/)
    assert.match(`${stdout}${stderr}`, /valid/iu)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const operations: ReadonlyArray<readonly [string, any]> = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as object).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)
)

describe("OpenAPI", () => {
  it("is the frozen contract", () => assertFrozen(document, "v2"))

  it("passes the recommended rules of redocly", () => assertLintedClean("v2"))

  it("a change of one operation is a change of one file, and two parts never share one", () => {
    const changed = structuredClone(document)
    changed.paths["/v2/whoami"].get.summary = "Somebody else"
    const before = filesOf(document)
    assert.deepStrictEqual(
      [...filesOf(changed)]
        .filter(([path, part]) => JSON.stringify(part) !== JSON.stringify(before.get(path)))
        .map(([path]) => path),
      ["operations/whoami.json"]
    )
    changed.paths["/v2/scopes"].get.operationId = "Whoami"
    assert.throws(() => filesOf(changed), /operations\/Whoami\.json/u)
  })

  it("names each schema for itself: a number behind a name says that two share it", () => {
    for (const { components } of [document, documentV1])
      assert.deepStrictEqual(
        Object.keys(components.schemas).filter((name) => /_\d+$/u.test(name)),
        []
      )
  })

  it("is version 3.1 with a key scheme and a server", () => {
    assert.strictEqual(document.openapi, "3.1.0")
    assert.deepInclude(document.components.securitySchemes.apiKey, { type: "apiKey", in: "header", name: "x-api-key" })
    assert.strictEqual(document.servers.length, 1)
  })

  for (const [route, operation] of operations) {
    it(`${route} is described whole`, () => {
      assert.match(operation.operationId, /^[a-z][A-Za-z]+$/)
      assert.isAbove(operation.summary.length, 5)
      assert.isAbove(operation.description.length, operation.summary.length)
      assert.deepStrictEqual(operation.security, route === "GET /v2/scopes" ? [] : [{ apiKey: [] }])
      for (const parameter of operation.parameters)
        assert.isAbove(parameter.description?.length ?? 0, 5, `${parameter.name}`)
      const [success] = Object.keys(operation.responses)
      assert.match(success!, /^20[0-2]$/)
      for (const [status, answer] of Object.entries<any>(operation.responses)) {
        assert.includeMembers(Object.keys(answer.headers), [
          "X-Correlation-Id",
          "X-Request-Id",
          "X-RateLimit-Limit",
          "X-RateLimit-Remaining",
          "X-RateLimit-Reset"
        ])
        const [media] = Object.values<any>(answer.content)
        assert.property(media, "example")
        if (Number(status) >= 400) assert.match(answer.description, /API_\d{3}/)
      }
      assert.property(operation.responses["429"].headers, "Retry-After")
      assert.property(operation.responses, "500")
    })
  }

  it("every field of every named schema is described", () => {
    const bare: Array<string> = []
    for (const [name, schema] of Object.entries<any>(document.components.schemas)) {
      if (Object.values(Errors).some((error) => error.name === name)) continue
      for (const [field, part] of Object.entries<any>(schema.properties ?? {})) {
        const described = part.description ?? part.$ref ?? part.anyOf?.[0]?.description ?? part.properties ?? part.items
        if (described === undefined) bare.push(`${name}.${field}`)
      }
    }
    assert.deepStrictEqual(bare, [])
  })

  it("limits are integers, and bodies that may be absent are not required", () => {
    const list = document.paths["/v2/strategies"].get.parameters.find(
      ({ name }: { readonly name: string }) => name === "limit"
    )
    assert.deepInclude(list.schema, { type: "integer", minimum: 1, maximum: 200, default: 50 })
    assert.isFalse(document.paths["/v2/portfolios/{portfolioId}/rebalance"].post.requestBody.required)
    assert.isTrue(document.paths["/v2/strategies"].post.requestBody.required)
  })

  it("requests are closed, answers open to new fields", () => {
    assert.isFalse(document.components.schemas.StrategyDraft.additionalProperties)
    assert.notProperty(document.components.schemas.Strategy, "additionalProperties")
  })
})

describe("OpenAPI of v1", () => {
  const { description, parameters, responses } = documentV1.paths["/v1/executions/{operationId}/stream"].get

  it("is the frozen contract", () => assertFrozen(documentV1, "v1"))

  it("passes the recommended rules of redocly", () => assertLintedClean("v1"))

  it("describes the frames, and where to resume", () => {
    assert.include(description, "portfolios:read")
    assert.deepInclude(parameters[1], { name: "last-event-id", in: "header", required: false })
    const { example, schema } = responses["200"].content["text/event-stream"]
    assert.includeMembers(Object.keys(schema.properties), ["id", "event", "data"])
    const envelope = JSON.parse(example.data)
    assert.deepInclude(envelope, { cursor: example.id, kind: example.event })
    assert.doesNotHaveAnyKeys(envelope.payload, ["correlationId"])
    assert.deepStrictEqual(
      documentV1.components.schemas.ExecutionEvent.anyOf.map((one: any) => one.properties.kind.enum[0]),
      ["snapshot", "state_changed", "timeline_appended", "progress", "result", "error"].map(
        (kind) => `execution.${kind}`
      )
    )
  })

  it("has every error in the v1 envelope, with its code", () => {
    for (const [status, answer] of Object.entries<any>(responses)) {
      if (Number(status) < 400) continue
      assert.match(answer.description, /API_\d{3}/)
      const { example } = answer.content["application/json"]
      assert.hasAllKeys(example, ["success", "error", "correlationId", "requestId", "timestamp"])
    }
    assert.property(responses["429"].headers, "Retry-After")
  })
})

layer(ApiLive, { excludeTestServices: true })("documents", (it) => {
  it.effect("openapi.json is served with a server that is right under every host name", () =>
    Effect.gen(function* () {
      const { json, status } = yield* (yield* Api).call("GET", "/v2/openapi.json")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(json.servers, [{ url: "/", description: "This deployment" }])
      assert.deepStrictEqual({ ...json, servers: document.servers }, document)
    })
  )

  it.effect("that of v1 too", () =>
    Effect.gen(function* () {
      const { json, status } = yield* (yield* Api).call("GET", "/v1/openapi.json")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual({ ...json, servers: documentV1.servers }, documentV1)
    })
  )

  it.effect("the reference is a page that loads nothing from elsewhere", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* (yield* Api).call("GET", "/v2/docs")
      assert.strictEqual(status, 200)
      assert.match(headers.get("content-type") ?? "", /^text\/html/)
      assert.notMatch(text, /<script[^>]+src=|<link[^>]+href=/)
    })
  )

  it.effect("llms.txt has the form of one, and names every route, scope and code", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* (yield* Api).call("GET", "/v2/llms.txt")
      assert.strictEqual(status, 200)
      assert.match(headers.get("content-type") ?? "", /^text\/plain; charset=utf-8/)
      const lines = text.split("\n")
      assert.match(lines[0]!, /^# \S/)
      assert.match(lines[2]!, /^> \S/)
      assert.strictEqual(lines.filter((line) => line.startsWith("# ")).length, 1)
      for (const [route] of operations) assert.include(text, `[${route}](`)
      for (const { name } of scopes) assert.include(text, `\`${name}\``)
      for (const { contract } of Object.values(Errors)) assert.include(text, contract.code)
      const sections = text.split("\n## ").slice(1)
      assert.strictEqual(sections.at(-1)?.split("\n")[0], "Optional")
      for (const section of sections) {
        for (const line of section
          .split("\n")
          .slice(2)
          .filter((line) => line !== ""))
          assert.match(line, /^- /)
      }
    })
  )

  it.effect("every operation has a page of Markdown, which llms.txt links, with its fields, example and errors", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { text: primer } = yield* call("GET", "/llms.txt")
      assert.strictEqual(primer, (yield* call("GET", "/v2/llms.txt")).text)
      for (const [route, operation] of operations) {
        const path = `/v2/docs/${operation.operationId}.md`
        assert.include(primer, `[${route}](http://localhost:3000${path})`)
        const { headers, status, text } = yield* call("GET", path)
        assert.strictEqual(status, 200, path)
        assert.match(headers.get("content-type") ?? "", /^text\/markdown; charset=utf-8/)
        assert.include(text, `\`${route}\``)
        for (const { name } of operation.parameters) assert.include(text, `| \`${name}\` |`)
        for (const code of JSON.stringify(operation.responses).match(/API_\d{3}/g) ?? []) assert.include(text, code)
        assert.notInclude(text, "undefined")
        assert.notInclude(text, "#/components")
      }
      assert.strictEqual((yield* call("GET", "/v2/docs/nothing.md")).status, 404)
    })
  )

  it.effect("a page's table of fields goes into variants, lists and records", () =>
    Effect.gen(function* () {
      const { text } = yield* (yield* Api).call("GET", "/v2/docs/createStrategy.md")
      for (const field of ["name", "allocation", "schedule.frequency", "preferences.swap.slippageBps"]) {
        assert.match(
          text,
          new RegExp(`^\\| \`${field.replaceAll(".", "\\.")}\` \\| [^|]+ \\| (yes|no) \\| .+ \\|$`, "m")
        )
      }
      assert.match(text, /^\| `allocation\.[a-zA-Z]+\[\]\.assetId` \|/m)
    })
  )

  it.effect("llms.txt has one worked example end to end, with bodies and answers, before its lists", () =>
    Effect.gen(function* () {
      const { text } = yield* (yield* Api).call("GET", "/llms.txt")
      const example = text.slice(text.indexOf("One user's way"), text.indexOf("\n## "))
      assert.deepStrictEqual(
        [...example.matchAll(/^\*\*\d\. `(.+)`\*\* /gm)].map(([, route]) => route),
        [
          "POST /v2/strategies",
          "POST /v2/enroll/signature",
          "POST /v2/enroll",
          "GET /v2/portfolios/{portfolioId}",
          "POST /v2/portfolios/{portfolioId}/rebalance/preview",
          "POST /v2/portfolios/{portfolioId}/rebalance",
          "GET /v2/portfolios/{portfolioId}/operations/{operationId}"
        ]
      )
      assert.strictEqual(example.split("Answer:").length - 1, 7)
      assert.strictEqual(example.split("Body:").length - 1, 5)
    })
  )

  it.effect("llms-full.txt has the overview and every page", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { text } = yield* call("GET", "/llms-full.txt")
      assert.strictEqual(text, (yield* call("GET", "/v2/llms-full.txt")).text)
      assert.isTrue(text.startsWith((yield* call("GET", "/llms.txt")).text))
      for (const [, operation] of operations) {
        assert.include(text, (yield* call("GET", `/v2/docs/${operation.operationId}.md`)).text)
      }
    })
  )

  it.effect("llms.txt says what to do about every state and every skip, as docs/not-traded.md does", () =>
    Effect.gen(function* () {
      const { text } = yield* (yield* Api).call("GET", "/llms.txt")
      const page = yield* Effect.promise(() => readFile(`${root}/docs/not-traded.md`, "utf8"))
      for (const state of OperationState.literals) assert.match(text, new RegExp(`^- \`${state}\`: \\S`, "m"))
      for (const code of Object.values(SkipCode)) {
        const [, advice] = new RegExp(`^- \`${code}\`: (.+)$`, "m").exec(text)!
        const row = page.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${code}\``))
        assert.strictEqual(row?.split("|")[2]?.trim(), advice, code)
      }
    })
  )
})
