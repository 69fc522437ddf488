/**
 * What the generator leaves out of the OpenAPI document: the API key scheme, the headers of every answer, numbers in
 * the query as numbers, bodies that may be absent, and examples. And takes out answers that an operation cannot give.
 */
import * as Errors from "#domain/errors/Errors.ts"
import { mergePatchType } from "#http/values/mergePatch.ts"
import { exampleOf } from "#http/openapi/exampleOf.ts"
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"
import { openResponses } from "#http/openapi/openResponses.ts"
import { plainSchemas } from "#http/openapi/plainSchemas.ts"
import { withoutError } from "#http/openapi/withoutError.ts"

interface MediaType {
  schema: JsonSchema
  example?: unknown
}
interface Content {
  readonly [mediaType: string]: MediaType
}
interface Answer {
  description: string
  readonly content?: Content
  headers?: Record<string, unknown>
}
interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    schema: JsonSchema
    description?: string
  }>
  readonly requestBody?: { readonly content: Content; required: boolean }
  readonly responses: Record<string, Answer>
}
interface Document {
  readonly info: Record<string, unknown>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    securitySchemes: Record<string, unknown>
    headers?: Record<string, unknown>
  }
}

type Described = JsonSchema & { readonly description: string }

const limitUpTo = (maximum: number) =>
  ({ type: "integer", minimum: 1, maximum, default: 50, description: "Rows a page." }) as Described

/** Descriptions by the name of the parameter, or by that of the operation and its own. */
const integerQuery: Readonly<Record<string, Described>> = {
  limit: limitUpTo(200),
  "discoverStrategies.limit": limitUpTo(50)
}

const header = (description: string, schema: JsonSchema, example: unknown) => ({ description, schema, example })

const id: JsonSchema = { type: "string", pattern: "^[0-9a-f]{32}$" }
const count: JsonSchema = { type: "integer" }

const headerSchemas = {
  "X-Correlation-Id": header(
    "Trace id of the request, the same across services; quote it in reports.",
    id,
    "4bf92f3577b34da6a3ce929d0e0e4736"
  ),
  "X-Request-Id": header("Unique to this answer.", id, "00f067aa0ba902b700f067aa0ba902b7"),
  "X-RateLimit-Limit": header("Requests that the window allows.", count, 120),
  "X-RateLimit-Remaining": header("Requests left in the window.", count, 119),
  "X-RateLimit-Reset": header("End of the window, in Unix seconds.", count, 1772443860)
}

const retryAfter = header("Seconds to wait before the next attempt.", count, 30)

const reference = (name: string) => ({ $ref: `#/components/headers/${name}` })
const references = Object.fromEntries(Object.keys(headerSchemas).map((name) => [name, reference(name)]))

/** Errors whose answers always say when to send the request again, by their names. */
const waiting: ReadonlySet<string> = new Set(
  Object.entries<{ readonly contract: Errors.ErrorContract }>(Errors).flatMap(([name, { contract }]) =>
    contract.retryAfterSeconds === undefined ? [] : [name]
  )
)

/** The names of the errors that an answer may have. */
const errorsOf = ({ content }: Answer): ReadonlyArray<string> => {
  const schema = content?.["application/json"]?.schema
  return (schema?.anyOf ?? [schema]).flatMap((member) => member?.$ref?.slice("#/components/schemas/".length) ?? [])
}

/** What an error status means: the code and meaning of each error that has it. */
const describe = (answer: Answer, components: Readonly<Record<string, JsonSchema>>): string => {
  const { description } = answer
  const names = errorsOf(answer)
  return names.map((name) => components[name]?.description ?? name).join(" ") || description
}

const isNull = ({ type }: JsonSchema) => type === "null"

const finishOperation = (operation: Operation, components: Readonly<Record<string, JsonSchema>>) => {
  for (const parameter of operation.parameters) {
    if (parameter.in === "query") {
      const ofOperation = integerQuery[`${operation.operationId}.${parameter.name}`]
      parameter.schema = ofOperation ?? integerQuery[parameter.name] ?? parameter.schema
    }
    const { description } = parameter.schema as { readonly description?: string }
    if (description !== undefined) parameter.description = description
  }
  // Only a request that has a body can have too large a one.
  if (operation.requestBody === undefined) delete operation.responses["413"]
  // Only a request that has something to read can have it in the wrong form.
  if (operation.requestBody === undefined && operation.parameters.length === 0) {
    withoutError(operation.responses, "400", "ValidationFailed")
  }
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (Number(status) >= 400) answer.description = describe(answer, components)
    const waits = answer.headers?.["retry-after"] !== undefined || errorsOf(answer).some((name) => waiting.has(name))
    answer.headers = waits ? { ...references, "Retry-After": reference("Retry-After") } : references
  }
  const { requestBody } = operation
  // The generator takes the two media types of a merge patch for two schemas.
  const merged = requestBody?.content[mergePatchType]
  if (merged !== undefined) merged.schema = requestBody!.content["application/json"]!.schema
  const contents = [requestBody?.content, ...Object.values(operation.responses).map(({ content }) => content)]
  for (const media of contents.flatMap((content) => Object.values(content ?? {}))) {
    media.example = exampleOf(media.schema, components)
  }
  // To the decoder an absent body is one more member of the union; in the document it is `required`.
  const union = requestBody?.content["application/json"]?.schema.anyOf
  if (requestBody !== undefined && union?.some(isNull) === true) {
    requestBody.required = false
    Object.assign(requestBody.content["application/json"]!, { schema: union.find((member) => !isNull(member)) })
  }
}

/** Removes, in place, schemas that nothing refers to any more. */
const dropUnused = (document: Document) => {
  const schemas = document.components.schemas as Record<string, JsonSchema>
  const text = JSON.stringify(document)
  for (const name of Object.keys(schemas)) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name]
}

/** Completes a generated document, in place, and answers it. */
export const finishDocument = (generated: Record<string, unknown>): Record<string, unknown> => {
  const document = generated as unknown as Document
  plainSchemas(document.paths)
  plainSchemas(document.components.schemas)
  document.info["contact"] = { name: "Ballast support", url: "https://ballast.example/support" }
  document.components.securitySchemes["apiKey"] = {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The integrator's API key, shown once when it is created."
  }
  document.components.headers = { ...headerSchemas, "Retry-After": retryAfter }
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  for (const operation of operations) finishOperation(operation, document.components.schemas)
  openResponses(operations, document.components.schemas)
  dropUnused(document)
  return generated
}
