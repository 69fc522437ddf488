/**
 * Names the span of a request `METHOD /route/{template}`. The tracer opens it before the route is found, so the route
 * is found here too.
 */
import { Layer } from "effect"
import { HttpMiddleware } from "effect/http"
import { routeOf } from "#http/serving/routeTable.ts"

/** `unmatched` stands for every path that is no route, so that strangers cannot make up names. */
export const spanName = (method: string, url: string): string => `${method} ${routeOf(method, url) ?? "unmatched"}`

export const SpanNames = Layer.succeed(HttpMiddleware.SpanNameGenerator, ({ method, url }) => spanName(method, url))
