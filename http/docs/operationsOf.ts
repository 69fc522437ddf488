/** The operations of the finished OpenAPI document, as far as pages, collections and tools are made of them. */
import type { OpenApi } from "effect/http-api"
import type { JsonSchema } from "#http/openapi/JsonSchema.ts"

export interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
}

export type Content = Readonly<Record<string, Media>>

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly [string, ...ReadonlyArray<string>]
  /** None: no API key is needed. */
  readonly security: ReadonlyArray<unknown>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** Operations by path, such as `/v2/portfolios/{portfolioId}`, and by method in lower case. */
export const operationsOf = ({
  paths
}: OpenApi.OpenAPISpec): Readonly<Record<string, Readonly<Record<string, Operation>>>> =>
  paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>
