/** A JSON Schema as the OpenAPI documents of this service have them. */
import type { namespaceKeyword } from "#http/values/solanaField.ts"

export interface JsonSchema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly description?: string
  readonly example?: unknown
  readonly examples?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly [namespaceKeyword]?: string
  readonly type?: string
  readonly pattern?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
}
