/** The one error of the plain client. */
import { Schema } from "effect"
import { HttpClientError } from "effect/http"
import type * as Errors from "#domain/Errors.ts"
import { detailsOf } from "#domain/describeIssue.ts"

type ErrorClasses = (typeof Errors)[keyof typeof Errors]
/** A code of docs/errors.md. */
export type ApiErrorCode = Extract<ErrorClasses, { readonly contract: { readonly code: string } }>["contract"]["code"]

/**
 * A code of the API, or what happened on the way: `UNREACHABLE`, nobody answered, it may or may not have been done;
 * `UNEXPECTED_ANSWER`, what was answered is not what the contract says; `STILL_RUNNING`, the wait for an operation
 * ended before it did.
 */
export type ErrorCode = ApiErrorCode | "UNREACHABLE" | "UNEXPECTED_ANSWER" | "STILL_RUNNING"

export class BallastError extends Error {
  override readonly name = "BallastError"
  readonly code: ErrorCode
  /** HTTP status of the API's error; undefined where nothing was answered. */
  readonly status: number | undefined
  /** One line a problem, as `field.path: reason`. */
  readonly details: ReadonlyArray<string>
  /** Seconds to wait before the next attempt, where the API says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(options: {
    readonly code: ErrorCode
    readonly message: string
    readonly status?: number | undefined
    readonly details?: ReadonlyArray<string> | undefined
    readonly retryAfterSeconds?: number | undefined
    readonly cause?: unknown
  }) {
    super(options.message, { cause: options.cause })
    this.code = options.code
    this.status = options.status
    this.details = options.details ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

interface ApiError extends Error {
  readonly details?: ReadonlyArray<string>
  readonly retryAfterSeconds?: number
  readonly constructor: Function & { readonly contract: { readonly code: ApiErrorCode; readonly status: number } }
}

const isApiError = (error: unknown): error is ApiError => error instanceof Error && "contract" in error.constructor

/** What was to be sent is not what the contract says; nothing was sent. */
export const notSent = (error: Schema.SchemaError, place: string): BallastError =>
  new BallastError({
    code: "API_400",
    message: "The request is not valid and was not sent; details name each field",
    details: detailsOf(error.issue, place),
    cause: error
  })

/** Every way in which a call of the Effect client fails. */
export const fromFailure = (error: unknown): BallastError => {
  if (error instanceof BallastError) return error
  if (isApiError(error)) {
    const { details, message, retryAfterSeconds } = error
    return new BallastError({ ...error.constructor.contract, message, details, retryAfterSeconds, cause: error })
  }
  if (Schema.isSchemaError(error)) {
    return new BallastError({
      code: "UNEXPECTED_ANSWER",
      message: "The answer is not what this version of the client knows; is the client of the service's version?",
      details: detailsOf(error.issue, "answer"),
      cause: error
    })
  }
  if (HttpClientError.isHttpClientError(error) && error.response !== undefined) {
    const { status } = error.response
    return new BallastError({
      code: "UNEXPECTED_ANSWER",
      message: `Something answered ${status} that is not an answer of the API; is baseUrl the API's, and what is between?`,
      status,
      cause: error
    })
  }
  return new BallastError({
    code: "UNREACHABLE",
    message: `The service did not answer: ${error instanceof Error ? error.message : String(error)}`,
    cause: error
  })
}
