/**
 * What a body of procedures says that it is: JSON. A page of another origin can send other types, and a body without
 * one, without that the browser asks first. Source: Fetch standard, "CORS-safelisted request-header".
 */
import { ValidationFailed } from "#domain/errors/Errors.ts"
import type { SentHeaders } from "#domain/identity/access/presented.ts"

const json: ReadonlySet<string> = new Set(["application/json", "application/ndjson", "application/x-ndjson"])

/** Why a body is not read; undefined where it is JSON, or nothing was sent. */
export const mediaTypeProblem = (
  { "content-type": contentType }: SentHeaders,
  text: string
): ValidationFailed | undefined => {
  if (contentType === undefined ? text === "" : json.has(contentType.split(";", 1)[0]!.trim().toLowerCase()))
    return undefined
  return new ValidationFailed({
    message: "The request body must be JSON",
    details: ["content-type: expected application/json"]
  })
}
