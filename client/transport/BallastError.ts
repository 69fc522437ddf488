/** The one error of the plain clients. */
import type { ApiErrorCode } from "#client/Contract.ts"

/**
 * A code of docs/errors.md, or what happened on the way: `UNREACHABLE`, nobody answered in time, it may or may not have
 * been done; `UNEXPECTED_ANSWER`, what was answered is none of the API's answers; `STILL_RUNNING`, the wait for an
 * operation ended before it did.
 */
export type ErrorCode = ApiErrorCode | "UNREACHABLE" | "UNEXPECTED_ANSWER" | "STILL_RUNNING"

export class BallastError extends Error {
  override readonly name = "BallastError"
  readonly code: ErrorCode
  /** HTTP status of what was answered; undefined where nothing was. */
  readonly status: number | undefined
  /** One line a problem, as `field.path: reason`. */
  readonly details: ReadonlyArray<string>
  /** Seconds to wait before the next attempt, where the answer says so. */
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

/** Nothing was sent, since the service could not read it. */
export const notSent = (...details: ReadonlyArray<string>): BallastError =>
  new BallastError({
    code: "API_400",
    message: "The request is not valid and was not sent; details name each field",
    details
  })
