/** Answers with a domain error outside an HttpApi, in the envelope of the path. */
import { HttpServerResponse } from "effect/http"
import { contractOf, type DomainError, retryHeaders } from "#domain/errors/DomainError.ts"
import { envelopeAt } from "#http/envelopeTable.ts"
import type { Answered } from "#http/envelopes.ts"

/** The request that is answered. */
interface AnsweredPath extends Answered {
  readonly path: string
  /** Instead of the status of the error's contract. */
  readonly status?: number
}

export const errorResponse = (error: DomainError, answered: AnsweredPath): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(envelopeAt(answered.path)(error, answered), {
    status: answered.status ?? contractOf(error).status,
    headers: retryHeaders(error)
  })
