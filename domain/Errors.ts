/**
 * Every error that can leave the service, each with its one code and HTTP status. No other file knows a code.
 *
 * A message says what is wrong and what to do next; `details` name fields as `field: reason`. The meaning of each code
 * for reader, operator and support is in docs/errors.md. Source: interface "v2 codes", shapes 2.31.
 */
import { Schema } from "effect"

const fields = {
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String))
}

/** What every class of this module carries besides its message. */
export interface ErrorContract {
  readonly code: `API_${string}`
  readonly status: number
  readonly meaning: string
}

/** 400: a cursor that this service did not issue for this list. */
export class CursorInvalid extends Schema.TaggedError<CursorInvalid>()("CursorInvalid", fields) {
  static readonly contract = {
    code: "API_002",
    status: 400,
    meaning: "The cursor is malformed or belongs to another list."
  } as const
}

/** 429: more requests than the caller's limit allows. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...fields,
  retryAfterSeconds: Schema.Int
}) {
  static readonly contract = {
    code: "API_004",
    status: 429,
    meaning: "Too many requests; wait for the seconds in Retry-After."
  } as const
}

/** 404: nothing with that id is visible to the key. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", fields) {
  static readonly contract = {
    code: "API_006",
    status: 404,
    meaning: "The resource does not exist or the key cannot access it."
  } as const
}

/** 409: the same request is being carried out right now. */
export class ReplayInProgress extends Schema.TaggedError<ReplayInProgress>()("ReplayInProgress", fields) {
  static readonly contract = {
    code: "API_007",
    status: 409,
    meaning: "An identical request is still in progress; retry after a short wait."
  } as const
}

/** 409: the idempotency anchor was used before with another body. */
export class ReplayMismatch extends Schema.TaggedError<ReplayMismatch>()("ReplayMismatch", fields) {
  static readonly contract = {
    code: "API_008",
    status: 409,
    meaning: "The idempotency anchor was already used with a different body."
  } as const
}

/** 401: no API key was sent. */
export class KeyMissing extends Schema.TaggedError<KeyMissing>()("KeyMissing", fields) {
  static readonly contract = { code: "API_101", status: 401, meaning: "The x-api-key header is missing." } as const
}

/** 401: the API key is unknown or revoked. */
export class KeyInvalid extends Schema.TaggedError<KeyInvalid>()("KeyInvalid", fields) {
  static readonly contract = { code: "API_102", status: 401, meaning: "The API key is not valid." } as const
}

/** 401: the API key is past its expiry. */
export class KeyExpired extends Schema.TaggedError<KeyExpired>()("KeyExpired", fields) {
  static readonly contract = { code: "API_103", status: 401, meaning: "The API key has expired." } as const
}

/** 403: the key lacks the scope of the route, or the tenant an entitlement. */
export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()("PermissionDenied", fields) {
  static readonly contract = {
    code: "API_104",
    status: 403,
    meaning: "The key lacks the required scope, or the tenant the required entitlement."
  } as const
}

/** 403: the tenant is disabled. */
export class TenantDisabled extends Schema.TaggedError<TenantDisabled>()("TenantDisabled", fields) {
  static readonly contract = { code: "API_106", status: 403, meaning: "The tenant is disabled." } as const
}

/** 404: a command named a portfolio that does not exist or is another tenant's. */
export class PortfolioNotFound extends Schema.TaggedError<PortfolioNotFound>()("PortfolioNotFound", fields) {
  static readonly contract = {
    code: "API_200",
    status: 404,
    meaning: "The portfolio does not exist or is not the tenant's."
  } as const
}

/** 409: the owner already has a portfolio in this strategy. */
export class PortfolioExists extends Schema.TaggedError<PortfolioExists>()("PortfolioExists", fields) {
  static readonly contract = {
    code: "API_202",
    status: 409,
    meaning: "A portfolio already exists for this strategy and owner."
  } as const
}

/** 400: the request does not have the specified form or names something unknown. */
export class ValidationFailed extends Schema.TaggedError<ValidationFailed>()("ValidationFailed", fields) {
  static readonly contract = {
    code: "API_400",
    status: 400,
    meaning: "The request is not valid; details name each field."
  } as const
}

/** 413: the body is larger than the service reads. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", fields) {
  static readonly contract = {
    code: "API_400",
    status: 413,
    meaning: "The request body is larger than 64 KiB."
  } as const
}

/** 500: a fault of ours; its cause is in the log under the correlation id, never in the answer. */
export class Internal extends Schema.TaggedError<Internal>()("Internal", fields) {
  static readonly contract = {
    code: "API_600",
    status: 500,
    meaning: "Internal server error; quote X-Correlation-Id in a report."
  } as const
}
