/**
 * Header that says when to send a request again, on every answer whose error says so: a route's contract cannot, where
 * errors share a status.
 */
import type { HttpServerResponse } from "effect/http"
import * as Errors from "#domain/errors/Errors.ts"
import { errorOf } from "#http/errorOf.ts"

const classes: ReadonlyArray<{ readonly contract: Errors.ErrorContract }> = Object.values(Errors)

const answerOf = (status: number, code: string | null) => `${status} ${code}`

const seconds: ReadonlyMap<string, number> = new Map(
  classes.flatMap(({ contract: { code, retryAfterSeconds, status } }) =>
    retryAfterSeconds === undefined ? [] : [[answerOf(status, code), retryAfterSeconds]]
  )
)
const statuses: ReadonlySet<number> = new Set([...seconds.keys()].map((answer) => Number(answer.slice(0, 3))))

/** The header, in pairs, where it belongs to the answer and is not there. */
export const retryAfter = (
  response: HttpServerResponse.HttpServerResponse
): ReadonlyArray<readonly [string, string]> => {
  if (!statuses.has(response.status) || response.headers["retry-after"] !== undefined) return []
  const wait = seconds.get(answerOf(response.status, errorOf(response).code))
  return wait === undefined ? [] : [["retry-after", String(wait)]]
}
