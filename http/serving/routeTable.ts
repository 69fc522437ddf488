/**
 * Which routes there are, by method and template: for the names of spans, and to separate wrong methods and paths.
 */
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { Admin } from "#http/admin/Admin.ts"
import { addEnvelopeAt } from "#http/envelopeTable.ts"
import type { Envelope } from "#http/envelopes.ts"
import { templateOf } from "#http/templateOf.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { V1 } from "#http/v1/Api.ts"
import { V2 } from "#http/v2/Api.ts"

const plain = [
  "/v2/openapi.json",
  "/v1/openapi.json",
  "/v2/docs",
  "/llms.txt",
  "/v2/llms.txt",
  "/llms-full.txt",
  "/v2/llms-full.txt",
  "/v1/docs",
  "/v1/llms.txt",
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

/**
 * Adds a route that is not of the REST contracts: the procedures beside them, and pages about them. Its errors are in
 * the envelope of what is below the same path, or in its own.
 */
export const addRoute = (method: "GET" | "POST", path: string, envelope?: Envelope): void => {
  if (routeOf(method, path) !== path) templates.on(method, path as FindMyWay.PathInput, path)
  if (envelope !== undefined) addEnvelopeAt(path, envelope)
}

/** The template that a request means; undefined when there is none. */
export const routeOf = (method: string, url: string): string | undefined =>
  templates.find(method as "GET", url)?.handler

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** The methods that a path has, in a fixed order; empty when nothing is there. HEAD is answered wherever GET is. */
export const methodsOf = (url: string): ReadonlyArray<string> =>
  methods.flatMap((method) => {
    if (routeOf(method, url) === undefined) return []
    return method === "GET" ? ["GET", "HEAD"] : [method]
  })
