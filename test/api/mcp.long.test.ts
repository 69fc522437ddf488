/** The MCP server, asked by the SDK's own client over a socket: docs/decisions/0204-mcp-server.md. */
import { NodeHttpServer } from "@effect/platform-node"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { CallToolResultSchema, type Tool } from "@modelcontextprotocol/sdk/types.js"
import { assert, layer } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Layer } from "effect"
import { OpenApi } from "effect/http-api"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"
import { ServeRoutes } from "#http/ServeRoutes.ts"
import { V2 } from "#http/v2/Api.ts"
import { fillCatalogue, newTenant, readOnlyKey, strategyBody } from "#test/api/support/actors.ts"
import { among, unlimited } from "#test/api/support/Api.ts"

const served = (limits: typeof unlimited) =>
  among(
    ServeRoutes([]).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))),
    limits
  )

const url = Effect.map(HttpServer.HttpServer, ({ address }) => {
  const { port } = address as { readonly port: number }
  return new URL(`http://127.0.0.1:${port}/mcp`)
})

/** A client until the scope closes. */
const connected = Effect.fnUntraced(function* (headers: Record<string, string>) {
  const transport = new StreamableHTTPClientTransport(yield* url, { requestInit: { headers } })
  return yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "1.0.0" })
      await client.connect(transport as Parameters<Client["connect"]>[0])
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )
})

/** All pages. */
const listed = (client: Client) =>
  Effect.promise(async () => {
    const tools: Array<Tool> = []
    let cursor: string | undefined
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor })
      assert.isAtMost(page.tools.length, 25)
      tools.push(...page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  })

const called = Effect.fnUntraced(function* (client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = yield* Effect.promise(() => client.callTool({ name, arguments: args }, CallToolResultSchema))
  const [content] = result.content as ReadonlyArray<{ readonly text: string }>
  return {
    isError: result.isError === true,
    text: content!.text,
    meta: result._meta,
    json: content!.text.startsWith("{") ? JSON.parse(content!.text) : undefined
  }
})

const named = (tools: ReadonlyArray<Tool>, name: string) => tools.find((tool) => tool.name === name)

const document: any = OpenApi.fromApi(V2)
const operations = Object.values<any>(document.paths).flatMap((item) => Object.values<any>(item))

layer(served(unlimited), { excludeTestServices: true })("the MCP server", (it) => {
  it.effect("has a tool for each operation but streams, with the contract's words and hints", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const client = yield* connected({ "x-api-key": key })
      const tools = yield* listed(client)
      assert.sameMembers(
        tools.map(({ name }) => name),
        operations.map(({ operationId }) => operationId).filter((id) => id !== "streamEvents")
      )
      for (const { description, name, title } of tools) {
        const operation = operations.find(({ operationId }) => operationId === name)
        assert.strictEqual(title, operation.summary)
        assert.strictEqual(description, operation.description)
      }
      const hints = (name: string) => {
        const { destructiveHint, idempotentHint, readOnlyHint } = named(tools, name)!.annotations!
        return { destructiveHint, idempotentHint, readOnlyHint }
      }
      const read = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
      assert.deepStrictEqual(hints("getPortfolio"), read)
      assert.deepStrictEqual(hints("previewRebalance"), read)
      assert.deepStrictEqual(hints("createStrategy"), { ...read, readOnlyHint: false, idempotentHint: false })
      const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
      assert.deepStrictEqual(hints("deleteStrategy"), writes)
      assert.deepStrictEqual(hints("rebalancePortfolio"), { ...writes, idempotentHint: false })
    })
  )

  it.effect("every schema of arguments is valid JSON Schema and stands by itself", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      const tools = yield* listed(yield* connected({ "x-api-key": key }))
      const ajv = new Ajv2020({ strict: false, validateFormats: false })
      for (const { inputSchema, name } of tools) assert.isFunction(ajv.compile(inputSchema), name)
      const accepts = ajv.compile(named(tools, "createStrategy")!.inputSchema)
      assert.isTrue(accepts({ body: strategyBody }), JSON.stringify(accepts.errors))
      assert.isFalse(accepts({ body: { name: 5 } }))
      assert.isFalse(accepts({}))
      assert.notInclude(JSON.stringify(tools), "#/components/")
    })
  )

  it.effect("answers a call as the route does, with errors, tracing id and what the route made", () =>
    Effect.gen(function* () {
      yield* fillCatalogue
      const { key } = yield* newTenant()
      const client = yield* connected({ authorization: `Bearer ${key}` })
      const whoami = yield* called(client, "whoami")
      assert.isFalse(whoami.isError)
      assert.include(whoami.text, "Northwind")
      const created = yield* called(client, "createStrategy", { body: { ...strategyBody, externalId: "by-agent" } })
      assert.isFalse(created.isError, created.text)
      const { strategyId } = created.json.data
      const read = yield* called(client, "getStrategy", { strategyId })
      assert.deepStrictEqual(read.json, created.json)
      const found = yield* called(client, "listStrategies", { externalId: "by-agent", limit: 1 })
      assert.lengthOf(found.json.data.strategies, 1)
      const taken = yield* called(client, "createStrategy", { body: { ...strategyBody, externalId: "by-agent" } })
      assert.isTrue(taken.isError)
      assert.strictEqual(taken.json.error.code, "API_230")
      assert.strictEqual(taken.meta?.["ballast/status"], 409)
      assert.match(String(taken.meta?.["ballast/correlationId"]), /^[0-9a-f]{32}$/)
      const invalid = yield* called(client, "getStrategy", { strategyId: "no-id-of-ours" })
      assert.strictEqual(invalid.json.error.code, "API_400")
      const escaping = yield* called(client, "getStrategy", { strategyId: "../../admin" })
      assert.isTrue(escaping.isError)
      assert.include(escaping.text, "strategyId: Expected one segment of a path")
      const requests = yield* called(client, "listRefusedRequests")
      assert.sameMembers(
        requests.json.data.requests.map(({ code }: any) => code),
        ["API_230", "API_400"]
      )
    })
  )

  it.effect("a named request that is sent again is answered as it was", () =>
    Effect.gen(function* () {
      yield* fillCatalogue
      const client = yield* connected({ "x-api-key": (yield* newTenant()).key })
      const args = { "Idempotency-Key": "agent-run-1", body: strategyBody }
      const first = yield* called(client, "createStrategy", args)
      assert.isFalse(first.isError, first.text)
      assert.deepStrictEqual((yield* called(client, "createStrategy", args)).json, first.json)
    })
  )

  it.effect("a key that may only read sees no tool that writes, and the route refuses a call all the same", () =>
    Effect.gen(function* () {
      const client = yield* connected({ "x-api-key": yield* readOnlyKey(yield* newTenant()) })
      const tools = yield* listed(client)
      assert.isDefined(named(tools, "getPortfolio"))
      assert.isUndefined(named(tools, "createStrategy"))
      for (const { annotations, name } of tools) assert.isTrue(annotations?.readOnlyHint, name)
      const refused = yield* called(client, "createStrategy", { body: strategyBody })
      assert.strictEqual(refused.json.error.code, "API_104")
    })
  )

  it.effect("a tool or an argument that is none is said to be", () =>
    Effect.gen(function* () {
      const client = yield* connected({ "x-api-key": (yield* newTenant()).key })
      assert.include((yield* called(client, "dropTables")).text, "There is no tool dropTables")
      assert.include((yield* called(client, "getStrategy", { id: "x" })).text, "the arguments are strategyId")
      assert.include((yield* called(client, "getStrategy")).text, "strategyId: is required")
      assert.include((yield* called(client, "getStrategy", { strategyId: {} })).text, "strategyId: Expected text")
    })
  )

  it.effect("without a key that is accepted it answers 401 like every route, and other methods 405", () =>
    Effect.gen(function* () {
      const target = yield* url
      const post = (headers: Record<string, string>) =>
        Effect.promise(async () => {
          const answer = await fetch(target, {
            method: "POST",
            headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
          })
          return { status: answer.status, json: (await answer.json()) as any }
        })
      const { key } = yield* newTenant()
      for (const accept of ["*/*", "text/html, */*;q=0.1"]) {
        const any = yield* post({ "x-api-key": key, accept })
        assert.deepStrictEqual([any.status, any.json.result.tools.length], [200, 25])
        assert.isString(any.json.result.nextCursor)
      }
      assert.strictEqual((yield* post({ "x-api-key": key, accept: "text/html" })).status, 406)
      const missing = yield* post({})
      assert.deepStrictEqual([missing.status, missing.json.error.code], [401, "API_101"])
      const session = yield* post({ authorization: "Bearer bs_somebody" })
      assert.deepStrictEqual([session.status, session.json.error.code], [401, "API_101"])
      const unknown = yield* post({ authorization: "Bearer bk_live_nobody" })
      assert.deepStrictEqual([unknown.status, unknown.json.error.code], [401, "API_102"])
      for (const method of ["GET", "DELETE"]) {
        const answer = yield* Effect.promise(() => fetch(target, { method }))
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers.get("allow"), "POST")
        yield* Effect.promise(() => answer.text())
      }
    })
  )

  it.effect("calls that come at once do not mix their answers", () =>
    Effect.gen(function* () {
      const actors = yield* Effect.forEach([1, 2, 3, 4], () => newTenant())
      const clients = yield* Effect.forEach(actors, ({ key }) => connected({ "x-api-key": key }))
      yield* fillCatalogue
      for (const [index, client] of clients.entries())
        yield* called(client, "createStrategy", { body: { ...strategyBody, externalId: actors[index]!.tenantId } })
      const calls = clients.flatMap((client, index) => Array.from({ length: 10 }, () => ({ client, index })))
      yield* Effect.forEach(
        calls,
        ({ client, index }) =>
          Effect.map(called(client, "listStrategies"), ({ text }) => assert.include(text, actors[index]!.tenantId)),
        { concurrency: "unbounded" }
      )
    })
  )
})

layer(served({ global: 1_000, critical: 1_000, general: 1_000, burst: 2 }), { excludeTestServices: true })(
  "the MCP server under limits",
  (it) => {
    it.effect("a call counts in the limit of its route", () =>
      Effect.gen(function* () {
        const client = yield* connected({ "x-api-key": (yield* newTenant()).key })
        const strategyId = "01JQ8ZKX4V6T3M9N2C5B7D8F0G"
        const codes: Array<string> = []
        for (let n = 0; n < 3; n++) codes.push((yield* called(client, "getStrategy", { strategyId })).json.error.code)
        assert.deepStrictEqual(codes, ["API_006", "API_006", "API_004"])
      })
    )
  }
)
