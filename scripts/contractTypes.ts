/**
 * Writes `client/Contract.ts` out as types that stand alone, from the JSON Schemas of the contract: users of the package
 * need no Effect to have them. `test/client/package.long.test.ts` holds them against those that the repository derives.
 */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import * as Errors from "#domain/errors/Errors.ts"
import { Frame } from "#domain/stream/Frame.ts"
import { TicketTarget } from "#domain/stream/Ticket.ts"
import { plainSchemas } from "#http/openapi/plainSchemas.ts"
import { V2 } from "#http/v2/Api.ts"
import { ClientProcedures } from "#rpc/ClientProcedures.ts"
import { describeProcedures } from "#rpc/describeProcedures.ts"

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly not?: JsonSchema
  readonly items?: JsonSchema | false
  readonly prefixItems?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: JsonSchema | boolean
}

/** Named types, each once, by what they are called in a document. */
const named = new Map<string, string>()

const union = (types: ReadonlyArray<string>) => [...new Set(types)].join(" | ")

/** Puts a union in brackets, as it stands in a list or an intersection. */
const grouped = (type: string) => (/[|&]/u.test(type) ? `(${type})` : type)

const comment = (text: string | undefined) =>
  text === undefined ? "" : `/** ${text.replaceAll("*/", "* /").replaceAll("\n", " ")} */\n`

const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/u.test(name) ? name : JSON.stringify(name))

const objectType = ({ additionalProperties, properties = {}, required = [] }: JsonSchema): string => {
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}readonly ${keyOf(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`
  )
  const isOpen = typeof additionalProperties === "object"
  const rest = isOpen ? [`readonly [key: string]: ${typeOf(additionalProperties)}`] : []
  if (fields.length + rest.length === 0) return additionalProperties === false ? "{}" : "object"
  return `{\n${[...fields, ...rest].join("\n")}\n}`
}

const listType = ({ items, prefixItems }: JsonSchema): string => {
  const first = (prefixItems ?? []).map(typeOf)
  const rest = items === undefined || items === false ? undefined : `ReadonlyArray<${typeOf(items)}>`
  if (first.length === 0) return rest ?? "ReadonlyArray<unknown>"
  return `readonly [${[...first, ...(rest === undefined ? [] : [`...${rest}`])].join(", ")}]`
}

const simple: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null"
}

const ofType = (type: string, schema: JsonSchema): string =>
  type === "object" ? objectType(schema) : type === "array" ? listType(schema) : simple[type]!

const typeOf = (schema: JsonSchema): string => {
  if (schema.$ref !== undefined) return decodeURIComponent(schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1))
  if (schema.not !== undefined) return schema.not.type === "null" ? "{}" : "never"
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return union(choices.map(typeOf))
  const own = [schema.type ?? []].flat().map((type) => ofType(type, schema))
  // What says no type of its own bounds the values of another one.
  const others = (schema.allOf ?? []).map(typeOf).filter((type) => type !== "unknown")
  const parts = [...(own.length === 0 ? [] : [union(own)]), ...others.filter((type) => !own.includes(type))]
  return parts.length === 0 ? "unknown" : parts.length === 1 ? parts[0]! : parts.map(grouped).join(" & ")
}

const name = (key: string, schema: JsonSchema): void => {
  const text = `${comment(schema.description)}export type ${key} = ${typeOf(schema)}`
  const known = named.get(key) ?? text
  if (known !== text) throw new Error(`Two schemas are called ${key}; give one of them another identifier`)
  named.set(key, text)
}

/** The type of a schema as JSON has it; what it names is named. */
const typeOfSchema = (schema: Schema.Top): string => {
  const document = Schema.toJsonSchemaDocument(schema)
  // As in the documents of routes, so that one schema reads the same on each wire.
  plainSchemas(document.definitions)
  plainSchemas(document.schema)
  for (const [key, definition] of Object.entries(document.definitions)) name(key, definition as JsonSchema)
  return typeOf(document.schema as JsonSchema)
}

interface Content {
  readonly schema: JsonSchema
}

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ in: string; name: string; required?: boolean; schema: JsonSchema }>
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

/** A whole number of a path or a query is text there. */
const textOf = (schema: JsonSchema): JsonSchema => (schema.type === "integer" ? { ...schema, type: "string" } : schema)

const parametersType = (operation: Operation, place: "path" | "query"): string => {
  const ofPlace = (operation.parameters ?? []).filter((parameter) => parameter.in === place)
  if (ofPlace.length === 0) return "undefined"
  return objectType({
    properties: Object.fromEntries(ofPlace.map((parameter) => [parameter.name, textOf(parameter.schema)])),
    required: ofPlace.filter(({ required }) => required === true).map((parameter) => parameter.name)
  })
}

const payloadType = ({ requestBody }: Operation): string => {
  const content = requestBody?.content["application/json"]
  if (content === undefined) return "undefined"
  return union([typeOf(content.schema), ...(requestBody?.required === true ? [] : ["undefined"])])
}

const answerType = ({ responses }: Operation): string => {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([, { content }]) => content?.["application/json"])
  return union(contents.map((content) => (content === undefined ? "undefined" : typeOf(content.schema))))
}

const endpointsType = (): string => {
  const document = OpenApi.fromApi(V2)
  for (const [key, schema] of Object.entries(document.components.schemas)) name(key, schema as JsonSchema)
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path)) as ReadonlyArray<unknown>
  // What answers a stream is followed, not called.
  const called = (operations as ReadonlyArray<Operation>).filter((operation) => answerType(operation) !== "undefined")
  const lines = called.map((operation) =>
    [
      `readonly ${operation.operationId}: {`,
      `readonly params: ${parametersType(operation, "path")}`,
      `readonly query: ${parametersType(operation, "query")}`,
      `readonly payload: ${payloadType(operation)}`,
      `readonly answer: ${answerType(operation)}`,
      "}"
    ].join("\n")
  )
  return `export interface Endpoints {\n${lines.join("\n")}\n}`
}

const proceduresType = (): string => {
  const lines = describeProcedures(ClientProcedures).map(({ input, isStream, output, tag }) =>
    [
      `readonly ${JSON.stringify(tag)}: {`,
      `readonly answers: ${isStream ? '"stream"' : '"once"'}`,
      `readonly input: ${input === undefined ? "undefined" : typeOfSchema(input)}`,
      `readonly output: ${typeOfSchema(output)}`,
      "}"
    ].join("\n")
  )
  return `export interface Procedures {\n${lines.join("\n")}\n}`
}

const codes = Object.values(Errors).flatMap((error) =>
  "contract" in error ? [JSON.stringify(error.contract.code)] : []
)

/** The text of a module of types. */
export const contractTypes = (): string => {
  const own = [
    endpointsType(),
    proceduresType(),
    `export type ApiErrorCode = ${union(codes)}`,
    `export type Frame = ${typeOfSchema(Frame)}`,
    `export type TicketTarget = ${typeOfSchema(TicketTarget)}`
  ]
  return ["/** The contract of the API, as JSON has it. */", ...named.values(), ...own, ""].join("\n")
}
