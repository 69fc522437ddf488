/**
 * Query names that the endpoint does not have are refused like unknown keys of a body, so that `page=2` does not read
 * the first page again. All endpoints are checked here, those without a query of their own too.
 */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { detailsOf } from "#domain/errors/describeIssue.ts"
import { fieldsOf } from "#domain/errors/describeSchema.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"

const root = { Params: "path", Headers: "headers", Query: "query", Payload: "body" } as const

type OfRequest = HttpApiError.HttpApiSchemaError & { readonly kind: keyof typeof root }

const isOfRequest = (error: HttpApiError.HttpApiSchemaError): error is OfRequest => error.kind in root

const invalid = (details: ReadonlyArray<string>) =>
  new ValidationFailed({ message: "The request is not valid; details name each field", details })

/** The names of each endpoint's query, read from its schema once. */
const queryNames = new WeakMap<HttpApiEndpoint.Top, ReadonlySet<string>>()

const queryNamesOf = (endpoint: HttpApiEndpoint.Top): ReadonlySet<string> => {
  const known = queryNames.get(endpoint)
  if (known !== undefined) return known
  const names = new Set(endpoint.query === undefined ? [] : fieldsOf(endpoint.query.ast))
  queryNames.set(endpoint, names)
  return names
}

/** Most names that an answer repeats, and most characters of one. */
const maxNames = 20
const maxNameLength = 40

/** What is wrong with the names of a query. */
const unknownNames = (query: object, endpoint: HttpApiEndpoint.Top): ReadonlyArray<string> => {
  const names = queryNamesOf(endpoint)
  const help = names.size === 0 ? "leave it out" : `the parameters are ${[...names].join(", ")}`
  return Object.keys(query)
    .filter((name) => !names.has(name))
    .slice(0, maxNames)
    .map((name) => `${name.slice(0, maxNameLength)}: is not a parameter here; ${help}`)
}

/** What answers an error. An answer that does not fit its own contract is a fault of ours. */
const refused = <E>(error: E): Effect.Effect<never, E | ValidationFailed> => {
  if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
  return isOfRequest(error) ? Effect.fail(invalid(detailsOf(error.cause.issue, root[error.kind]))) : Effect.die(error)
}

export const RequestErrorsLive = Layer.succeed(RequestErrors, (httpEffect, { endpoint }) => {
  const answered = Effect.catch(httpEffect, refused)
  return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) => {
    const unknown = unknownNames(query, endpoint)
    return unknown.length === 0 ? answered : Effect.fail(invalid(unknown))
  })
})
