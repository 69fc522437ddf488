/**
 * Completes the generated document of v1: all that the v2 document gets, the v1 envelope of errors, and an example of a frame in
 * place of what the generator tells of its own way to end a stream.
 */
import type { JsonSchema } from "#http/v2/openapi/exampleOf.ts"
import { exampleOf } from "#http/v2/openapi/exampleOf.ts"
import { finishDocument } from "#http/v2/openapi/finishDocument.ts"

interface ObjectSchema extends JsonSchema {
  examples?: ReadonlyArray<unknown>
  properties?: Record<string, JsonSchema>
  required?: Array<string>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, ObjectSchema>> }
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>
}

interface MediaType {
  example?: unknown
  "x-effect-stream"?: unknown
}

const traced: Readonly<Record<string, JsonSchema & { readonly examples: ReadonlyArray<unknown> }>> = {
  correlationId: {
    type: "string",
    pattern: "^[0-9a-f]{32}$",
    description: "The same as the header `X-Correlation-Id`.",
    examples: ["4bf92f3577b34da6a3ce929d0e0e4736"]
  },
  requestId: {
    type: "string",
    pattern: "^[0-9a-f]{32}$",
    description: "The same as the header `X-Request-Id`.",
    examples: ["00f067aa0ba902b700f067aa0ba902b7"]
  },
  timestamp: {
    type: "string",
    format: "date-time",
    description: "When it was answered. ISO 8601 in UTC with milliseconds.",
    examples: ["2026-03-02T09:30:00.000Z"]
  }
}

const tracedExample = Object.fromEntries(Object.entries(traced).map(([name, { examples }]) => [name, examples[0]]))

/** In place, and before examples are made of it. */
const addTracingIds = ({ components }: Document) => {
  for (const schema of Object.values(components.schemas)) {
    if (schema.properties?.["success"] === undefined || schema.properties["error"] === undefined) continue
    Object.assign(schema.properties, traced)
    schema.required?.push(...Object.keys(traced))
    schema.examples = schema.examples?.map((example) => ({ ...(example as object), ...tracedExample })) ?? []
  }
}

export const finishV1 = (generated: Record<string, unknown>): Record<string, unknown> => {
  const document = generated as unknown as Document
  addTracingIds(document)
  finishDocument(generated)
  const { schemas } = document.components
  const data = exampleOf(schemas["ExecutionEvent"]!, schemas) as { readonly cursor: string; readonly kind: string }
  for (const { responses } of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    const frames = responses["200"]?.content?.["text/event-stream"]
    if (frames === undefined) continue
    delete frames["x-effect-stream"]
    frames.example = { id: data.cursor, event: data.kind, data: JSON.stringify(data) }
  }
  return generated
}
