/** How errors stand in answers: each route has one envelope, which `http/envelopeTable.ts` knows. */
import { DateTime } from "effect"
import { contractOf, type DomainError, errorFields } from "#domain/errors/DomainError.ts"
import { legacyCode } from "#domain/errors/legacyCodes.ts"
import type { RequestContext } from "#domain/request/RequestContext.ts"

/** What an envelope may say of the request that is answered. */
export interface Answered {
  readonly requestContext: RequestContext["Service"]
  readonly now: DateTime.Utc
}

/** The body of an error answer. */
export type Envelope = (error: DomainError, answered: Answered) => unknown

/** Source: interface "v2 envelope". */
export const envelopeV2 = (error: DomainError) => ({ success: false as const, error: errorFields(error) })

/** It contains the tracing ids. Source: interface "v1 envelope". */
export const envelopeV1 = (error: DomainError, { now, requestContext }: Answered) => ({
  success: false as const,
  error: errorFields(error),
  correlationId: requestContext.correlationId,
  requestId: requestContext.requestId,
  timestamp: DateTime.formatIso(now)
})

/** Envelope of v1, with codes of its own. */
export const envelopeOfExecute: Envelope = (error, answered) => {
  const body = envelopeV1(error, answered)
  return { ...body, error: { ...body.error, code: legacyCode(body.error.code, contractOf(error).status) } }
}
