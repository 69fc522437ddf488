/** Every endpoint of the v2 API, with a request for it that has the right form: made of the document's examples. */
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { templateOf } from "#http/middleware/RequestLog.ts"
import { RateTier } from "#http/RateTier.ts"
import { V2 } from "#http/v2/Api.ts"
import { exampleOf } from "#http/v2/openapi/exampleOf.ts"

export interface Endpoint {
  /** `GET /v2/portfolios/{portfolioId}` */
  readonly route: string
  readonly method: string
  /** With the document's examples as parameters; what they name does not exist. */
  readonly path: string
  readonly tier: RateTier
  /** No key is needed. */
  readonly isPublic: boolean
  /** Undefined for routes without a body. */
  readonly body: unknown
}

const document: any = OpenApi.fromApi(V2)

/** The path with the parameters that it must have. */
const pathOf = (template: string, parameters: ReadonlyArray<any>): string => {
  const query = new URLSearchParams()
  let path = template
  for (const parameter of parameters) {
    const value = String(exampleOf(parameter.schema, document.components.schemas))
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value)
    else if (parameter.required) query.set(parameter.name, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}

export const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(V2, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const template = templateOf(endpoint.path)
      const operation = document.paths[template][endpoint.method.toLowerCase()]
      found.push({
        route: `${endpoint.method} ${template}`,
        method: endpoint.method,
        path: pathOf(template, operation.parameters),
        tier: Context.get(endpoint.annotations, RateTier),
        isPublic: operation.security.length === 0,
        body: operation.requestBody?.content["application/json"].example
      })
    }
  })
  return found
})()
