/**
 * The tools of the MCP server, each an operation of the API: name, texts, schema of its arguments and hints are the
 * contract's, so that no tool can differ from its route. Source: Model Context Protocol, "Tools".
 */
import { Result } from "effect"
import type { OpenApi } from "effect/http-api"
import type { Scope } from "#domain/values/Scopes.ts"
import { type Operation, operationsOf, type Parameter } from "#http/docs/operationsOf.ts"
import type { InnerRequest } from "#http/mcp/innerCall.ts"

type Json = Readonly<Record<string, unknown>>

/** Where an argument goes in the request. */
export type ParameterLocation = Pick<Parameter, "name" | "in">

export interface ApiTool {
  /** The operation's id. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly method: string
  /** `/v2/portfolios/{portfolioId}` */
  readonly path: string
  /** Undefined: any valid key will do. */
  readonly scope: Scope | undefined
  readonly parameters: ReadonlyArray<ParameterLocation>
  readonly hasBody: boolean
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown }
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

const components = "#/components/schemas/"

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

/** The names of the components that a schema refers to. */
const refersTo = (value: unknown): ReadonlyArray<string> => {
  if (!isObject(value)) return []
  const own = typeof value["$ref"] === "string" ? [value["$ref"].slice(components.length)] : []
  return [...own, ...Object.values(value).flatMap(refersTo)]
}

/** Rewrites references as a self-contained schema has them. */
const local = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(local)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === "$ref" && typeof part === "string" ? part.replace(components, "#/$defs/") : local(part)
    ])
  )
}

/** The components that a schema needs, and those that they need. */
const definitionsOf = (schema: unknown, all: Json): Json => {
  const needed = new Set<string>()
  const waiting = [...refersTo(schema)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (needed.has(name)) continue
    needed.add(name)
    waiting.push(...refersTo(all[name]))
  }
  return Object.fromEntries([...needed].map((name) => [name, local(all[name])]))
}

const inputSchemaOf = ({ parameters, requestBody }: Operation, all: Json): ApiTool["inputSchema"] => {
  const body = requestBody === undefined ? undefined : Object.values(requestBody.content)[0]?.schema
  const properties = {
    ...Object.fromEntries(
      parameters.map(({ description, name, schema }) => [
        name,
        { ...schema, ...(description === undefined ? {} : { description }) }
      ])
    ),
    ...(body === undefined ? {} : { body })
  }
  const required = [
    ...parameters.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(requestBody?.required === true ? ["body"] : [])
  ]
  const definitions = definitionsOf(properties, all)
  return {
    type: "object",
    properties: local(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
  }
}

/** Sent again it does nothing more. */
const idempotentMethods = new Set(["get", "put", "patch", "delete"])

/** An answer that never ends is no answer of a tool. */
const isStream = ({ responses }: Operation) =>
  Object.values(responses).some(({ content }) => content !== undefined && "text/event-stream" in content)

/** What needs a scope to read, or none at all, changes nothing, whichever its method is. */
const isRead = (method: string, scope: Scope | undefined) => method === "get" || scope?.endsWith(":read") === true

/**
 * The tools of a document. `scopeOf` answers the scope of an operation. Hints: what changes nothing is read-only; what
 * only adds something (201) is not destructive; everything else may be.
 */
export const toolsOf = (
  document: OpenApi.OpenAPISpec,
  scopeOf: (operationId: string) => Scope | undefined
): ReadonlyArray<ApiTool> => {
  const all: Json = document.components.schemas
  return Object.entries(operationsOf(document)).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      if (isStream(operation)) return []
      const scope = scopeOf(operation.operationId)
      const readOnlyHint = isRead(method, scope)
      const onlyAdds = "201" in operation.responses
      return [
        {
          name: operation.operationId,
          title: operation.summary,
          description: operation.description,
          method: method.toUpperCase(),
          path,
          scope,
          parameters: operation.parameters.map(({ in: location, name }) => ({ in: location, name })),
          hasBody: operation.requestBody !== undefined,
          inputSchema: inputSchemaOf(operation, all),
          annotations: {
            title: operation.summary,
            readOnlyHint,
            destructiveHint: !readOnlyHint && !onlyAdds,
            idempotentHint: readOnlyHint || idempotentMethods.has(method),
            openWorldHint: !readOnlyHint
          }
        }
      ]
    })
  )
}

/** What the caller sees: everything that only reads, and what its key has the scope for. */
export const toolsFor = (tools: ReadonlyArray<ApiTool>, scopes: ReadonlySet<Scope>): ReadonlyArray<ApiTool> =>
  tools.filter(({ annotations, scope }) => annotations.readOnlyHint || scope === undefined || scopes.has(scope))

/**
 * One segment of a path, which names something and goes nowhere: neither empty nor of dots alone, without slashes, and
 * without control characters and lone surrogates, which no URL can have. Source: RFC 3986, 3.3 and 5.2.4.
 */
const isSegment = /^(?!\.{1,2}$)[^/\\\p{Cc}\p{Cs}]+$/u

/** The request of a call of a tool; the failure says why there is none. */
export const requestOf = (
  tool: ApiTool,
  args: Readonly<Record<string, unknown>>
): Result.Result<InnerRequest, string> => {
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  let path = tool.path
  const known = new Set([...tool.parameters.map(({ name }) => name), ...(tool.hasBody ? ["body"] : [])])
  const unknown = Object.keys(args).filter((name) => !known.has(name))
  if (unknown.length > 0) {
    const names = [...known].join(", ")
    return Result.fail(`${unknown.join(", ")}: not an argument of ${tool.name}; the arguments are ${names}`)
  }
  for (const { in: location, name } of tool.parameters) {
    const value = args[name]
    if (value === undefined || value === null) {
      if (location === "path") return Result.fail(`${name}: is required`)
      continue
    }
    if (typeof value === "object") return Result.fail(`${name}: Expected text, a number or true or false`)
    const text = String(value as string | number | boolean)
    if (location === "path") {
      if (!isSegment.test(text)) return Result.fail(`${name}: Expected one segment of a path: an id, without slashes`)
      path = path.replace(`{${name}}`, () => encodeURIComponent(text))
    } else if (location === "query") query.set(name, text)
    else if (/^[\t\x20-\x7e]*$/u.test(text)) headers[name.toLowerCase()] = text
    else return Result.fail(`${name}: Expected text of printable ASCII`)
  }
  const body = args["body"]
  return Result.succeed({
    method: tool.method,
    url: query.size === 0 ? path : `${path}?${query}`,
    headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
}
