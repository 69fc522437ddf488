/**
 * Takes "nothing but these properties" out of what the service answers: a later version may add a field to an answer.
 * What it reads stays closed, since unknown keys of a request are refused.
 */

type Json = unknown

const prefix = "#/components/schemas/"

const isRecord = (value: Json): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Visits every object inside a value. */
const visit = (value: Json, see: (object: Record<string, Json>) => void): void => {
  if (Array.isArray(value)) for (const item of value) visit(item, see)
  if (!isRecord(value)) return
  see(value)
  for (const part of Object.values(value)) visit(part, see)
}

/** Names of the component schemas that a value refers to, directly or through others. */
const referenced = (
  value: Json,
  schemas: Readonly<Record<string, Json>>,
  found = new Set<string>()
): ReadonlySet<string> => {
  visit(value, ({ $ref }) => {
    if (typeof $ref !== "string" || !$ref.startsWith(prefix)) return
    const name = $ref.slice(prefix.length)
    if (found.has(name)) return
    found.add(name)
    referenced(schemas[name], schemas, found)
  })
  return found
}

const open = (value: Json) =>
  visit(value, (object) => {
    if (object["additionalProperties"] === false) delete object["additionalProperties"]
  })

/** Opens, in place, the answers of all operations and the components that no request body refers to. */
export const openResponses = (
  operations: ReadonlyArray<{ readonly requestBody?: unknown; readonly responses: unknown }>,
  schemas: Readonly<Record<string, Json>>
): void => {
  const read = referenced(
    operations.map(({ requestBody }) => requestBody),
    schemas
  )
  for (const { responses } of operations) open(responses)
  for (const [name, schema] of Object.entries(schemas)) if (!read.has(name)) open(schema)
}
