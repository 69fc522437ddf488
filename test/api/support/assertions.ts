/** What contract tests say about answers. */
import { assert } from "@effect/vitest"
import type { ErrorContract } from "#domain/errors/Errors.ts"
import { legacyCode } from "#domain/errors/legacyCodes.ts"
import type { Answer } from "#test/api/support/Api.ts"

export const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const usd6 = /^\d+\.\d{6}$/

/** The answer is the envelope of exactly this error; a given detail must be among its details. */
export const assertError = (
  answer: Answer,
  error: { readonly contract: ErrorContract },
  ...details: ReadonlyArray<string | RegExp>
) => {
  assert.strictEqual(answer.status, error.contract.status, answer.text)
  assert.isFalse(answer.json.success)
  const { code, retryAfterSeconds, status } = error.contract
  if (retryAfterSeconds !== undefined) assert.strictEqual(answer.headers.get("retry-after"), `${retryAfterSeconds}`)
  const isLegacy = answer.path.startsWith("/portfolio/")
  assert.strictEqual(answer.json.error.code, isLegacy ? legacyCode(code, status) : code, answer.text)
  assert.isAbove(answer.json.error.message.length, 10)
  const keys = Object.keys(answer.json.error)
  assert.includeMembers(["code", "message", "details"], keys)
  const isV1 = answer.path.startsWith("/v1/") || answer.path.startsWith("/portfolio/")
  assert.deepStrictEqual(Object.keys(answer.json), ["success", "error", ...(isV1 ? tracingKeys : [])])
  if (isV1) assertTracedBody(answer)
  const found: ReadonlyArray<string> = answer.json.error.details ?? []
  for (const detail of details) {
    assert.isTrue(
      found.some((line) => (typeof detail === "string" ? line.startsWith(detail) : detail.test(line))),
      `${detail} in ${answer.text}`
    )
  }
  assertTraced(answer)
}

const tracingKeys = ["correlationId", "requestId", "timestamp"]

const assertTracedBody = ({ headers, json }: Answer) => {
  assert.strictEqual(json.correlationId, headers.get("x-correlation-id"))
  assert.strictEqual(json.requestId, headers.get("x-request-id"))
  assert.match(json.timestamp, isoTime)
}

/** Asserts that the tracing headers are there. */
export const assertTraced = ({ headers }: Pick<Answer, "headers">) => {
  assert.match(headers.get("x-correlation-id") ?? "", /^[0-9a-f]{32}$/)
  assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f]{32}$/)
}

/** The success envelope with exactly these keys of `data`. */
export const assertData = (answer: Answer, status: number, keys: ReadonlyArray<string>) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.isTrue(answer.json.success)
  assert.deepStrictEqual(Object.keys(answer.json.data).sort(), [...keys].sort())
  assertTraced(answer)
}
