/** The error of an answer, in the envelope of v2, of v1 or of the procedures. */
import type { HttpServerResponse } from "effect/http"

/** No error answer of ours is longer. */
const maxBytes = 65_536

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null)

export const errorOf = ({
  body
}: HttpServerResponse.HttpServerResponse): {
  readonly code: string | null
  readonly message: string | null
} => {
  const nothing = { code: null, message: null }
  if (body._tag !== "Uint8Array" || body.body.byteLength > maxBytes) return nothing
  const text = Buffer.from(body.body.buffer, body.body.byteOffset, body.body.byteLength).toString()
  if (!text.startsWith("{")) return nothing
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return nothing
  }
  const outer = isObject(answer) ? answer["error"] : undefined
  const error = isObject(outer) && isObject(outer["json"]) ? outer["json"] : outer
  return isObject(error) ? { code: textOrNull(error["code"]), message: textOrNull(error["message"]) } : nothing
}
