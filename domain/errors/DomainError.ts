/** What every wire says of an error in `Errors.ts`: its code, its status, its message and when to come back. */
import type { ErrorContract } from "#domain/errors/Errors.ts"

/** An instance of a class of domain/errors/Errors.ts. */
export interface DomainError {
  readonly message: string
  readonly details?: ReadonlyArray<string>
  /** Seconds to wait. `RateLimited` alone has them here; other errors have them in their contract. */
  readonly retryAfterSeconds?: number
}

/** The contract of the class that an error is an instance of. */
export const contractOf = (error: DomainError): ErrorContract =>
  (error.constructor as unknown as { readonly contract: ErrorContract }).contract

/** True for instances of the classes of domain/errors/Errors.ts. */
export const isDomainError = (error: unknown): error is DomainError =>
  error instanceof Error && "contract" in error.constructor

/** The error inside of every envelope; `details` is left out when the message is complete. */
export const errorFields = (error: DomainError) => ({
  code: contractOf(error).code,
  message: error.message,
  ...(error.details === undefined ? {} : { details: error.details })
})

/** The header `Retry-After` in seconds, for errors that have it. */
export const retryHeaders = (error: DomainError): { readonly "retry-after"?: string } => {
  const seconds = error.retryAfterSeconds ?? contractOf(error).retryAfterSeconds
  return seconds === undefined ? {} : { "retry-after": String(seconds) }
}
