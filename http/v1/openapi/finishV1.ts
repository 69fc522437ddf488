/**
 * Completes the generated document of v1: all that the v2 document gets, the v1 envelope of errors, and an example of a
 * frame in place of what the generator writes about its own way to end a stream.
 */
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"
import { legacyCode } from "#domain/errors/legacyCodes.ts"
import { finishFrames } from "#http/openapi/finishFrames.ts"
import { finishDocument } from "#http/openapi/finishDocument.ts"

interface ObjectSchema extends JsonSchema {
  examples?: ReadonlyArray<unknown>
  properties?: Record<string, JsonSchema>
  required?: Array<string>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, ObjectSchema>>
    readonly securitySchemes: Record<string, unknown>
  }
}

interface Operation {
  readonly requestBody?: { readonly content?: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>
}

interface MediaType {
  schema?: JsonSchema
  example?: unknown
  "x-effect-stream"?: unknown
}

const traced: Readonly<Record<string, JsonSchema & { readonly examples: ReadonlyArray<unknown> }>> = {
  correlationId: {
    type: "string",
    pattern: "^[0-9a-f]{32}$",
    description: "Value of the header `X-Correlation-Id`.",
    examples: ["4bf92f3577b34da6a3ce929d0e0e4736"]
  },
  requestId: {
    type: "string",
    pattern: "^[0-9a-f]{32}$",
    description: "Value of the header `X-Request-Id`.",
    examples: ["00f067aa0ba902b700f067aa0ba902b7"]
  },
  timestamp: {
    type: "string",
    format: "date-time",
    description: "Time of the answer. ISO 8601 in UTC with milliseconds.",
    examples: ["2026-03-02T09:30:00.000Z"]
  }
}

const tracedExample = Object.fromEntries(Object.entries(traced).map(([name, { examples }]) => [name, examples[0]]))

/** Adds the tracing ids to envelopes, in place and before examples are made of them. */
const addTracingIds = ({ components }: Document) => {
  for (const schema of Object.values(components.schemas)) {
    if (schema.properties?.["success"] === undefined || schema.properties["error"] === undefined) continue
    Object.assign(schema.properties, traced)
    schema.required?.push(...Object.keys(traced))
    schema.examples = schema.examples?.map((example) => ({ ...(example as object), ...tracedExample })) ?? []
  }
}

/** Renames, in place, errors of the legacy execute routes to their own codes. */
const renameCodes = ({ components, paths }: Document) => {
  const schemas = components.schemas as Record<string, ObjectSchema>
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith("/portfolio/")) continue
    for (const [status, { content }] of Object.values(item).flatMap(({ responses }) => Object.entries(responses))) {
      const media = content?.["application/json"]
      if (Number(status) < 400 || media?.schema === undefined) continue
      const members = media.schema.anyOf ?? [media.schema]
      const renamed = members.map(({ $ref }) => ({ $ref: legacyOf($ref!, Number(status), schemas) }))
      media.schema = renamed.length === 1 ? renamed[0]! : { anyOf: renamed }
    }
  }
}

const prefix = "#/components/schemas/"

/** Reference to the same error with the legacy code, which is made where there is none yet. */
const legacyOf = ($ref: string, status: number, schemas: Record<string, ObjectSchema>): string => {
  const name = $ref.slice(prefix.length)
  const known = schemas[name]!
  const code = JSON.parse(JSON.stringify(known)).examples[0].error.code as string
  const renamed = legacyCode(code, status)
  schemas[`Legacy${name}`] ??= JSON.parse(JSON.stringify(known).replaceAll(code, renamed)) as ObjectSchema
  return `${prefix}Legacy${name}`
}

/**
 * Removes, in place, examples that were made up: inputs and outputs of procedures are schemas that the domain and the
 * wires share, which have no examples; one that was made up would read as if it were true.
 */
const dropMadeUp = ({ paths }: Document) => {
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith("/v1/rpc/")) continue
    for (const { requestBody, responses } of Object.values(item))
      for (const { content = {} } of [requestBody ?? {}, responses["200"] ?? {}])
        for (const media of Object.values(content)) {
          delete media.example
          delete media["x-effect-stream"]
        }
  }
}

const bearerSchemes = {
  session: "The token of a wallet session, from `identity.signIn`; a browser may have it in a cookie instead.",
  operator: "The operator's own token, for procedures that run the service."
}

/** Describes, in place, what is sent instead of a key, where an operation takes it. */
const addBearerSchemes = ({ components, paths }: Document) => {
  const text = JSON.stringify(paths)
  for (const [name, description] of Object.entries(bearerSchemes)) {
    if (text.includes(`{"${name}":[]}`))
      components.securitySchemes[name] = { type: "http", scheme: "bearer", description }
  }
}

export const finishV1 = (generated: Record<string, unknown>): Record<string, unknown> => {
  const document = generated as unknown as Document
  addTracingIds(document)
  renameCodes(document)
  finishDocument(generated)
  addBearerSchemes(document)
  dropMadeUp(document)
  for (const operationId of ["streamExecutionAgUi", "runExecutionAgUi"])
    finishFrames(generated, { schema: "AgUiEvent", operationId })
  finishFrames(generated, { schema: "ExecutionEvent", id: "cursor", event: "kind" })
  return generated
}
