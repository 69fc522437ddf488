/**
 * The answers that the OpenAPI document promises, each as one line: `GET /v2/whoami 401 API_103`, `GET /v2/whoami 200`.
 */

interface JsonSchema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly enum?: ReadonlyArray<unknown>
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

/** What is read of a document. */
export interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly operationId?: string; readonly responses: Readonly<Record<string, Response>> }>
      >
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** `route` is `METHOD /path/{template}`; successes have no code. */
export const answerLine = (route: string, status: number | string, code: unknown): string =>
  code === undefined ? `${route} ${status}` : `${route} ${status} ${code}`

const prefix = "#/components/schemas/"

export const declaredAnswers = ({ components, paths }: Document): ReadonlyArray<string> => {
  const codesOf = (schema: JsonSchema): ReadonlyArray<unknown> => {
    if (schema.anyOf !== undefined) return schema.anyOf.flatMap(codesOf)
    if (schema.$ref !== undefined) return codesOf(components.schemas[schema.$ref.slice(prefix.length)] ?? {})
    return schema.properties?.["error"]?.properties?.["code"]?.enum ?? []
  }

  const linesOf = (route: string, status: string, { content = {} }: Response): ReadonlyArray<string> => {
    if (Number(status) < 400) return [answerLine(route, status, undefined)]
    const codes = Object.values(content).flatMap(({ schema }) => codesOf(schema))
    // An error without a code could never be produced, so the test fails for it.
    return codes.length === 0
      ? [answerLine(route, status, "without a code")]
      : codes.map((code) => answerLine(route, status, code))
  }

  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, response]) =>
        linesOf(`${method.toUpperCase()} ${path}`, status, response)
      )
    )
  )
}

/** The declared answers that are not among the lines of what was produced. */
export const missingAnswers = (document: Document, produced: string): ReadonlyArray<string> => {
  const lines = new Set(produced.split("\n"))
  return declaredAnswers(document).filter((line) => !lines.has(line))
}
