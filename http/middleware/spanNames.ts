/** Names the span of a request `METHOD /route/{template}`. The tracer opens it before the route is found, so it is looked up. */
import { Layer } from "effect"
import { FindMyWay, HttpMiddleware } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { Admin } from "#http/admin/Admin.ts"
import { templateOf } from "#http/middleware/RequestLog.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"

const plain = [
  "/v2/openapi.json",
  "/v1/openapi.json",
  "/v2/docs",
  "/v2/llms.txt",
  "/health/live",
  "/health/ready"
] as const

const templates = FindMyWay.make<string>(routerConfig)

const addRoutes = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) =>
      templates.on(endpoint.method, endpoint.path as FindMyWay.PathInput, templateOf(endpoint.path))
  })

addRoutes(V2)
addRoutes(V1)
addRoutes(Admin)
for (const path of plain) templates.on("GET", path, path)

/** `unmatched` stands for every path that is no route, so that strangers cannot make up names. */
export const spanName = (method: string, url: string): string =>
  `${method} ${templates.find(method, url)?.handler ?? "unmatched"}`

export const SpanNames = Layer.succeed(HttpMiddleware.SpanNameGenerator, ({ method, url }) => spanName(method, url))
