/**
 * Takes an error out of an operation that can never answer with it, although the middleware of its group declares it.
 */
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"

/** The answers of an operation, by status. */
export interface Responses {
  [status: string]: { readonly content?: Readonly<Record<string, { schema: JsonSchema }>> }
}

/**
 * Removes an error, in place. A status that is left with no error at all goes too. `name` is that of the component
 * schema.
 */
export const withoutError = (responses: Responses, status: string, name: string): void => {
  const media = responses[status]?.content?.["application/json"]
  if (media === undefined) return
  const members = media.schema.anyOf ?? [media.schema]
  const [first, ...others] = members.filter(({ $ref }) => $ref !== `#/components/schemas/${name}`)
  if (first === undefined) delete responses[status]
  else media.schema = others.length === 0 ? first : { anyOf: [first, ...others] }
}
