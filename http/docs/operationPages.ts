/**
 * Each operation of the API as a page of Markdown, made from the OpenAPI document: parameters, fields of the body,
 * an example of body and answer, and every error. For readers that have little room, people and programs alike.
 */
import type { OpenApi } from "effect/http-api"
import { describeFields, typeOf } from "#http/docs/describeFields.ts"
import { type Content, type Media, type Operation, operationsOf } from "#http/docs/operationsOf.ts"

type Document = OpenApi.OpenAPISpec

export interface OperationPage {
  readonly operationId: string
  /** Method and path, such as `GET /v2/portfolios`. */
  readonly route: string
  readonly text: string
  /** Blocks of Markdown, where the document has an example. */
  readonly bodyExample: string | undefined
  readonly answerExample: string | undefined
}

/** Where an operation's page is served. */
export const operationPagePath = (operationId: string) => `/v2/docs/${operationId}.md` as const

const methods = ["get", "post", "put", "patch", "delete"]

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

/** The example as a block; undefined where there is none. Text, such as frames of a stream, stays as it is. */
const exampleOf = (media: Media | undefined): string | undefined => {
  const example = media?.example
  if (example === undefined) return undefined
  const [language, text] = typeof example === "string" ? ["", example] : ["json", JSON.stringify(example, null, 2)]
  return `\`\`\`${language}\n${text}\n\`\`\``
}

const given = (text: string | undefined): ReadonlyArray<string> => (text === undefined ? [] : [text])

const firstMedia = (content: Content | undefined): Media | undefined =>
  content === undefined ? undefined : Object.values(content)[0]

const parametersOf = ({ parameters }: Operation, document: Document): ReadonlyArray<string> =>
  parameters.length === 0
    ? []
    : [
        "## Parameters",
        table(
          ["Name", "In", "Type", "Required", "Meaning"],
          parameters.map((parameter) => [
            `\`${parameter.name}\``,
            parameter.in,
            typeOf(parameter.schema, document),
            parameter.required ? "yes" : "no",
            parameter.description ?? ""
          ])
        )
      ]

const bodyOf = ({ requestBody }: Operation, document: Document): ReadonlyArray<string> => {
  const media = firstMedia(requestBody?.content)
  if (media === undefined) return []
  const fields = describeFields(media.schema, document)
  return [
    `## Body${requestBody?.required === true ? "" : " (may be left out)"}`,
    ...(fields.length === 0
      ? []
      : [
          table(
            ["Field", "Type", "Required", "Meaning"],
            fields.map(({ description, isRequired, path, type }) => [
              `\`${path}\``,
              type,
              isRequired ? "yes" : "no",
              description
            ])
          )
        ]),
    ...given(exampleOf(media))
  ]
}

const answersOf = ({ responses }: Operation): ReadonlyArray<string> => {
  const [success, ...errors] = Object.entries(responses)
  if (success === undefined) return []
  return [
    `## Answer (${success[0]})`,
    ...given(exampleOf(firstMedia(success[1].content))),
    ...(errors.length === 0
      ? []
      : [
          "## Errors",
          table(
            ["Status", "Meaning"],
            errors.map(([status, { description }]) => [status, description])
          )
        ])
  ]
}

const pageOf = (route: string, operation: Operation, document: Document): OperationPage => ({
  operationId: operation.operationId,
  route,
  bodyExample: exampleOf(firstMedia(operation.requestBody?.content)),
  answerExample: exampleOf(firstMedia(Object.values(operation.responses)[0]?.content)),
  text: [
    `# ${operation.summary}`,
    `\`${route}\``,
    operation.description,
    operation.security.length === 0 ? "No API key is needed." : "Send the API key in the header `x-api-key`.",
    ...parametersOf(operation, document),
    ...bodyOf(operation, document),
    ...answersOf(operation)
  ]
    .join("\n\n")
    .concat("\n")
})

/** The pages of all operations, in the document's order. */
export const operationPages = (document: Document): ReadonlyArray<OperationPage> =>
  Object.entries(operationsOf(document)).flatMap(([path, operations]) =>
    methods.flatMap((method) => {
      const operation = operations[method]
      return operation === undefined ? [] : [pageOf(`${method.toUpperCase()} ${path}`, operation, document)]
    })
  )
