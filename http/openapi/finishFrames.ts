/**
 * Gives streams of a document an example of a frame, in place of what the generator writes about its own way to end a
 * stream.
 */
import { exampleOf } from "#http/openapi/exampleOf.ts"
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>
}

interface Frame extends JsonSchema {
  readonly properties: Record<string, JsonSchema>
  required: ReadonlyArray<string>
}

interface MediaType {
  readonly schema: Frame
  example?: unknown
  "x-effect-stream"?: unknown
}

export interface Frames {
  /** The schema of what a frame contains. */
  readonly schema: string
  /** Its fields that are the frame's `id` and `event`, where it has them. */
  readonly id?: string
  readonly event?: string
  /** The operation whose frames these are; left out: all that no other call named. */
  readonly operationId?: string
}

/** Describes the frames of streams, in place. */
export const finishFrames = (generated: Record<string, unknown>, { event, id, operationId, schema }: Frames): void => {
  const { components, paths } = generated as unknown as Document
  const data = exampleOf(components.schemas[schema]!, components.schemas) as Readonly<Record<string, unknown>>
  for (const { operationId: name, responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    const frames = responses["200"]?.content?.["text/event-stream"]
    if (frames?.["x-effect-stream"] === undefined || name !== (operationId ?? name)) continue
    delete frames["x-effect-stream"]
    if (event === undefined) {
      delete frames.schema.properties["event"]
      frames.schema.required = frames.schema.required.filter((field) => field !== "event")
    }
    frames.example = {
      ...(id === undefined ? {} : { id: data[id] }),
      ...(event === undefined ? {} : { event: data[event] }),
      data: JSON.stringify(data)
    }
  }
}
