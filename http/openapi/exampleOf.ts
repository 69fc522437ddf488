/**
 * Builds an example of a JSON Schema out of the examples of its parts, so that no example can drift from its schema.
 * Examples are of EVM chains.
 */
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"
import { namespaceKeyword } from "#http/values/solanaField.ts"

const prefix = "#/components/schemas/"

const ofType = (schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown => {
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
          namespaceKeyword in part ? [] : [[name, exampleOf(part, components)]]
        )
      )
    case "array":
      return schema.items === undefined ? [] : [exampleOf(schema.items, components)]
    case "boolean":
      return true
    case "integer":
    case "number":
      return 1
    case "null":
      return null
    default:
      return ""
  }
}

export const exampleOf = (schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown => {
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const inner = schema.$ref === undefined ? schema.anyOf?.[0] : components[schema.$ref.slice(prefix.length)]
  return inner === undefined ? ofType(schema, components) : exampleOf(inner, components)
}
