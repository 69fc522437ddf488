/**
 * Every endpoint of the v2 API and of v1, with a request for it that has the right form: made of the document's
 * examples.
 */
import { Context } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { templateOf } from "#http/templateOf.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"
import { exampleOf } from "#http/openapi/exampleOf.ts"

export interface Endpoint {
  /** `GET /v2/portfolios/{portfolioId}` */
  readonly route: string
  readonly method: string
  /** Path with the document's examples as parameters; what they name does not exist. */
  readonly path: string
  readonly tier: RateTier
  /** No key is needed. */
  readonly isPublic: boolean
  /** Undefined for routes without a body. */
  readonly body: unknown
}

/** The path with the parameters that it must have. */
const pathOf = (template: string, parameters: ReadonlyArray<any>, schemas: any): string => {
  const query = new URLSearchParams()
  let path = template
  for (const parameter of parameters) {
    const value = String(exampleOf(parameter.schema, schemas))
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value)
    else if (parameter.required) query.set(parameter.name, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}

const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Endpoint> => {
  const document: any = OpenApi.fromApi(api)
  const found: Array<Endpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const template = templateOf(endpoint.path)
      const operation = document.paths[template][endpoint.method.toLowerCase()]
      found.push({
        route: `${endpoint.method} ${template}`,
        method: endpoint.method,
        path: pathOf(template, operation.parameters, document.components.schemas),
        tier: Context.get(endpoint.annotations, RateTier),
        isPublic: operation.security.length === 0,
        body: operation.requestBody?.content["application/json"].example
      })
    }
  })
  return found
}

export const endpoints: ReadonlyArray<Endpoint> = [...endpointsOf(V2), ...endpointsOf(V1)]
