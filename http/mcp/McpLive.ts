/**
 * The API for agents: a server of the Model Context Protocol at `POST /mcp`, by the protocol's own SDK, over streamable
 * HTTP without sessions. a call of a tool is passed to the route that the tool is made of (`innerCall.ts`). See
 * docs/decisions/0204-mcp-server.md.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import {
  type CallToolResult,
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError
} from "@modelcontextprotocol/sdk/types.js"
import { Clock, Context, DateTime, Effect, Result } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { KeyMissing } from "#domain/errors/Errors.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import { keyIn } from "#domain/identity/access/presented.ts"
import type { Scope } from "#domain/values/Scopes.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { type InnerResponse, makeInnerCall } from "#http/mcp/innerCall.ts"
import { type ApiTool, requestOf, toolsFor, toolsOf } from "#http/mcp/toolsOf.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { addRoute } from "#http/serving/routeTable.ts"
import { RequiredScope } from "#http/RequiredScope.ts"
import { V2 } from "#http/v2/Api.ts"

/** Longest body in bytes, as on every route. */
const maxBody = 65_536

const instructions =
  "Ballast keeps users' portfolios on target. Tools are the operations of its REST API v2; arguments of the path and the query have their names, the body is `body`. Read before you write, ask the user before a tool that is not read-only, and send an Idempotency-Key with what creates. An error's code and message describe what to do next."

const scopes = new Map<string, Scope | undefined>()
HttpApi.reflect(V2, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => void scopes.set(endpoint.identifier, Context.get(endpoint.annotations, RequiredScope))
})

const tools = toolsOf(OpenApi.fromApi(V2), (operationId) => scopes.get(operationId))
const byName = new Map(tools.map((tool) => [tool.name, tool]))

/** Tools of a page: an answer of a few dozen kilobytes. */
const pageSize = 25

/** The page of a list behind the tool that a cursor names; undefined for a cursor of no page. */
const pageOf = (listed: ReadonlyArray<ApiTool>, cursor: string | undefined) => {
  const start = cursor === undefined ? 0 : listed.findIndex(({ name }) => name === cursor) + 1
  if (cursor !== undefined && start === 0) return undefined
  const page = listed.slice(start, start + pageSize)
  const hasMore = start + pageSize < listed.length
  return { tools: page, nextCursor: hasMore ? page.at(-1)!.name : undefined }
}

/** The two kinds of answers that the protocol has; the SDK wants each of them named. */
const bothKinds = "application/json, text/event-stream"

/** A request that takes every kind of answer, or does not say which, takes those of the protocol (RFC 9110, 12.5.1). */
const acceptingAll = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest => {
  const { accept } = request.headers
  const takesAll = accept === undefined || accept.split(",").some((range) => range.trim().split(";", 1)[0] === "*/*")
  return takesAll ? request.modify({ headers: Headers.set(request.headers, "accept", bothKinds) }) : request
}

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: "text", text }] })

const resultOf = ({ headers, status, text }: InnerResponse): CallToolResult => ({
  isError: status >= 400,
  content: [{ type: "text", text }],
  _meta: { "ballast/status": status, "ballast/correlationId": headers.get("x-correlation-id") }
})

export const McpLive = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const keys = yield* ApiKeys
    const clock = yield* Clock.Clock
    addRoute("POST", "/mcp")

    /** One server a request: nothing is kept between two. */
    const answer = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      secret: string,
      { scopes: held }: Caller["Service"]
    ) {
      const { correlationId, requestId } = yield* RequestContext
      const context = yield* Effect.context<never>()
      const innerCall = makeInnerCall(router, context)

      const call = (tool: ApiTool, args: Readonly<Record<string, unknown>>, signal: AbortSignal) => {
        const requested = requestOf(tool, args)
        if (Result.isFailure(requested)) return Promise.resolve(failed(requested.failure))
        const meant = requested.success
        const headers = {
          ...meant.headers,
          "x-api-key": secret,
          traceparent: `00-${correlationId}-${requestId.slice(0, 16)}-00`
        }
        return Effect.runPromise(Effect.map(innerCall(request, { ...meant, headers }), resultOf), { signal })
      }

      const server = new Server(
        { name: "ballast", title: "Ballast", version: "2.0.0" },
        { capabilities: { tools: {} }, instructions }
      )
      server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
        const page = pageOf(toolsFor(tools, held), params?.cursor)
        if (page === undefined)
          throw new McpError(ErrorCode.InvalidParams, "The cursor is of no page of this list; begin without one")
        return {
          tools: page.tools.map(({ annotations, description, inputSchema, name, title }) => ({
            name,
            title,
            description,
            inputSchema,
            annotations
          })),
          ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor })
        }
      })
      server.setRequestHandler(CallToolRequestSchema, ({ params: { arguments: args = {}, name } }, { signal }) => {
        const tool = byName.get(name)
        return tool === undefined ? failed(`There is no tool ${name}; list the tools`) : call(tool, args, signal)
      })

      const transport = new WebStandardStreamableHTTPServerTransport({
        enableJsonResponse: true,
        maxRequestBodySize: maxBody
      })
      const web = yield* HttpServerRequest.toWeb(acceptingAll(request))
      return yield* Effect.promise(async () => {
        await server.connect(transport)
        const response = await transport.handleRequest(web)
        const text = await response.text()
        await server.close()
        const type = response.headers.get("content-type")
        return HttpServerResponse.text(text, {
          status: response.status,
          ...(type === null ? {} : { contentType: type })
        })
      })
    })

    const handled = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      // As of REST, or as most MCP clients send a key.
      const secret = keyIn(request.headers)
      if (secret === undefined)
        return yield* new KeyMissing({
          message: "Send an API key in the x-api-key header, or as Authorization: Bearer <key>"
        })
      const caller = yield* keys.authenticate(secret)
      ;(yield* RequestContext).caller = caller
      return yield* answer(request, secret, caller)
    }).pipe(
      Effect.catchTags({
        KeyMissing: (error) => refused(error),
        KeyInvalid: (error) => refused(error),
        KeyExpired: (error) => refused(error),
        TenantDisabled: (error) => refused(error)
      })
    )

    const refused = Effect.fnUntraced(function* (error: Parameters<typeof errorResponse>[0]) {
      const requestContext = yield* RequestContext
      const now = DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
      return errorResponse(error, { path: "/mcp", requestContext, now })
    })

    yield* router.add("POST", "/mcp", handled)
  })
)
