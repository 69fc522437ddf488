/**
 * Gives streams of a document an example of a frame, in place of what the generator tells of its own way to end a
 * stream.
 */
import { exampleOf, type JsonSchema } from "#http/v2/openapi/exampleOf.ts"

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>
}

interface MediaType {
  example?: unknown
  "x-effect-stream"?: unknown
}

export interface Frames {
  /** The schema of what a frame carries. */
  readonly schema: string
  /** Its fields that are the frame's `id` and `event`. */
  readonly id: string
  readonly event: string
}

/** In place. */
export const finishFrames = (generated: Record<string, unknown>, { event, id, schema }: Frames): void => {
  const { components, paths } = generated as unknown as Document
  const data = exampleOf(components.schemas[schema]!, components.schemas) as Readonly<Record<string, unknown>>
  for (const { responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    const frames = responses["200"]?.content?.["text/event-stream"]
    if (frames === undefined) continue
    delete frames["x-effect-stream"]
    frames.example = { id: data[id], event: data[event], data: JSON.stringify(data) }
  }
}
