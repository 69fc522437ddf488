/**
 * Writes the schemas of a document as generators of code read them: what a schema asks for stands in it and not in an
 * `allOf` of parts that have no type, and a pattern has no escape that only a regular expression literal needs.
 */

type Json = Record<string, unknown>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Text that is shown and not read as a schema. */
const isShown = (key: string) => key === "example" || key === "examples" || key === "default"

/** Merges, in place, parts whose words the schema does not have itself; others get its type. */
const join = (schema: Json) => {
  const parts = schema["allOf"]
  if (!Array.isArray(parts)) return
  const left = (parts as ReadonlyArray<Json>).filter((part) => {
    const fits = Object.entries(part).every(([word, value]) => !(word in schema) || schema[word] === value)
    if (fits) Object.assign(schema, part)
    return !fits
  })
  if (left.length === 0) delete schema["allOf"]
  else schema["allOf"] = left.map((part) => ("$ref" in part ? part : { type: schema["type"], ...part }))
}

/** Makes the schemas plain, in place. */
export const plainSchemas = (value: unknown): void => {
  if (Array.isArray(value)) return value.forEach(plainSchemas)
  if (!isRecord(value)) return
  join(value)
  if (typeof value["pattern"] === "string")
    value["pattern"] = value["pattern"].replaceAll(/\\(.)/gu, (escape, escaped) => (escaped === "/" ? "/" : escape))
  for (const [key, part] of Object.entries(value)) if (!isShown(key)) plainSchemas(part)
}
