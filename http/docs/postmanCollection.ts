/**
 * The API as a collection for Postman, which Bruno, Insomnia and others import too: a folder for each group, a request
 * for each operation, with the examples of the OpenAPI document. Source: Postman Collection Format 2.1.0.
 */
import type { OpenApi } from "effect/http-api"
import { type Operation, operationsOf, type Parameter } from "#http/docs/operationsOf.ts"

export const collectionSchema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

const exampleOf = ({ example, schema }: Parameter): string => {
  const value = example ?? schema.example ?? schema.examples?.[0] ?? ""
  return typeof value === "object" ? JSON.stringify(value) : String(value as string | number | boolean)
}

const described = ({ description }: Parameter) => (description === undefined ? {} : { description })

const rowOf = (parameter: Parameter) => ({
  key: parameter.name,
  value: exampleOf(parameter),
  ...described(parameter),
  // What may be left out is there to be switched on.
  ...(parameter.required ? {} : { disabled: true })
})

const urlOf = (path: string, parameters: ReadonlyArray<Parameter>) => {
  const segments = path
    .slice(1)
    .split("/")
    .map((segment) => segment.replace(/^\{(.+)\}$/u, ":$1"))
  const query = parameters.filter((parameter) => parameter.in === "query").map(rowOf)
  const variable = parameters
    .filter((parameter) => parameter.in === "path")
    .map((parameter) => ({ key: parameter.name, value: exampleOf(parameter), ...described(parameter) }))
  return {
    raw: `{{baseUrl}}/${segments.join("/")}`,
    host: ["{{baseUrl}}"],
    path: segments,
    ...(query.length === 0 ? {} : { query }),
    ...(variable.length === 0 ? {} : { variable })
  }
}

const requestOf = (method: string, path: string, operation: Operation) => {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  return {
    name: operation.summary,
    request: {
      method: method.toUpperCase(),
      url: urlOf(path, operation.parameters),
      description: operation.description,
      header: [
        ...operation.parameters.filter((parameter) => parameter.in === "header").map(rowOf),
        ...(type === undefined ? [] : [{ key: "content-type", value: type }])
      ],
      ...(operation.security.length === 0 ? { auth: { type: "noauth" as const } } : {}),
      ...(media?.example === undefined
        ? {}
        : {
            body: {
              mode: "raw" as const,
              raw: JSON.stringify(media.example, null, 2),
              options: { raw: { language: "json" as const } }
            }
          })
    }
  }
}

export const postmanCollection = (document: OpenApi.OpenAPISpec) => {
  const folders = new Map<string, Array<ReturnType<typeof requestOf>>>()
  for (const [path, operations] of Object.entries(operationsOf(document))) {
    for (const [method, operation] of Object.entries(operations)) {
      const [folder] = operation.tags
      folders.set(folder, [...(folders.get(folder) ?? []), requestOf(method, path, operation)])
    }
  }
  return {
    info: {
      name: document.info.title,
      description: `${document.info.description ?? ""}\n\nSet the variables \`baseUrl\` and \`apiKey\`; ids in paths are examples.`,
      schema: collectionSchema
    },
    item: [...folders].map(([name, requests]) => ({ name, item: requests })),
    auth: {
      type: "apikey" as const,
      apikey: [
        { key: "key", value: "x-api-key", type: "string" as const },
        { key: "value", value: "{{apiKey}}", type: "string" as const },
        { key: "in", value: "header", type: "string" as const }
      ]
    },
    variable: [
      { key: "baseUrl", value: "http://127.0.0.1:3000" },
      { key: "apiKey", value: "" }
    ]
  }
}
