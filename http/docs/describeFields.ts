/** The fields of a JSON Schema as rows of a table: their path, their type as text, and what they mean. */
import type { OpenApi } from "effect/http-api"
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"

export interface DescribedField {
  /** Names joined by dots; `[]` stands for each item of a list, `<key>` for each key of a record. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
}

/** Deeper fields are left to the OpenAPI document. */
const deepest = 6

const prefix = "#/components/schemas/"

const resolved = (schema: JsonSchema, document: OpenApi.OpenAPISpec): JsonSchema => {
  if (schema.$ref === undefined || !schema.$ref.startsWith(prefix)) return schema
  const found = document.components.schemas[schema.$ref.slice(prefix.length)] as JsonSchema | undefined
  return found === undefined ? schema : { ...found, ...(schema.description === undefined ? {} : schema) }
}

const isNull = ({ type }: JsonSchema) => type === "null"

/** The type as text: `string`, `list of integer`, `"a" or "b"`, `string or null`. */
export const typeOf = (schema: JsonSchema, document: OpenApi.OpenAPISpec): string => {
  const { additionalProperties, anyOf, enum: values, items, properties, type } = resolved(schema, document)
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(" or ")
  if (anyOf !== undefined) return [...new Set(anyOf.map((one) => typeOf(one, document)))].join(" or ")
  if (type === "array") return `list of ${items === undefined ? "anything" : typeOf(items, document)}`
  if (properties === undefined && typeof additionalProperties === "object") {
    return `record of ${typeOf(additionalProperties, document)}`
  }
  return type ?? "anything"
}

const fieldsUnder = (
  schema: JsonSchema,
  { at, depth, document }: { readonly at: string; readonly depth: number; readonly document: OpenApi.OpenAPISpec }
): ReadonlyArray<DescribedField> => {
  if (depth > deepest) return []
  const { additionalProperties, anyOf, items, properties, required = [] } = resolved(schema, document)
  if (anyOf !== undefined) {
    return anyOf.filter((one) => !isNull(one)).flatMap((one) => fieldsUnder(one, { at, depth, document }))
  }
  if (items !== undefined) return fieldsUnder(items, { at: `${at}[]`, depth, document })
  if (properties === undefined) {
    return typeof additionalProperties === "object"
      ? fieldsUnder(additionalProperties, { at: at === "" ? "<key>" : `${at}.<key>`, depth, document })
      : []
  }
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = at === "" ? name : `${at}.${name}`
    const described = resolved(property, document)
    return [
      {
        path,
        type: typeOf(property, document),
        isRequired: required.includes(name),
        description: described.description ?? described.anyOf?.find(({ description }) => description)?.description ?? ""
      },
      ...fieldsUnder(property, { at: path, depth: depth + 1, document })
    ]
  })
}

/** All fields, outer before inner; the same field of two variants is one row. */
export const describeFields = (schema: JsonSchema, document: OpenApi.OpenAPISpec): ReadonlyArray<DescribedField> => {
  const fields = fieldsUnder(schema, { at: "", depth: 0, document })
  return fields.filter(({ path }, index) => fields.findIndex((field) => field.path === path) === index)
}
