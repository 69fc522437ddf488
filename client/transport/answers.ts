/** What an answer says, whoever it is of: the service, or a gateway between. */
import { BallastError, type ErrorCode } from "#client/transport/BallastError.ts"

export interface Answer {
  readonly status: number
  /** Parsed JSON; undefined when the body is none. */
  readonly body: unknown
  readonly retryAfterSeconds: number | undefined
}

/** Fields of an object; none of what is no object. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}

/** Seconds, or a date of HTTP, which is held against the answer's own: the clock here may be another. */
const retryAfterOf = (headers: Headers): number | undefined => {
  const text = headers.get("retry-after")
  if (text === null) return undefined
  const seconds = /^\d+$/u.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.parse(headers.get("date") ?? "")) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: parsed(await response.text()),
  retryAfterSeconds: retryAfterOf(response.headers)
})

const gateways: ReadonlySet<number> = new Set([502, 503, 504])

const unexpected = ({ retryAfterSeconds, status }: Answer): BallastError =>
  new BallastError({
    code: "UNEXPECTED_ANSWER",
    message: gateways.has(status)
      ? `A gateway answered ${status} in place of the API: it does not reach the service now; what was sent may have been done`
      : status === 429
        ? "A gateway answered 429 in place of the API: too many requests; nothing was done"
        : `Something answered ${status} that is not an answer of the API; is baseUrl the API's, and what is between?`,
    status,
    retryAfterSeconds
  })

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((text) => typeof text === "string")

/** The error that an answer is: the service's own in any of its envelopes, or that it is none of the service's. */
export const errorOf = (answer: Answer): BallastError => {
  const outer = fieldsOf(fieldsOf(answer.body)["error"])
  const { code, details, message } = "json" in outer ? fieldsOf(outer["json"]) : outer
  if (typeof code !== "string" || typeof message !== "string") return unexpected(answer)
  const { retryAfterSeconds, status } = answer
  return new BallastError({
    code: code as ErrorCode,
    message,
    details: isTexts(details) ? details : [],
    status,
    retryAfterSeconds
  })
}

/** The sentences of an error and of its causes, from the outermost to the innermost, each once. */
const causesOf = (error: unknown): ReadonlyArray<string> => {
  const sentences = new Set<string>()
  let next = error
  for (let depth = 0; next !== undefined && next !== null && depth < 8; depth += 1) {
    const { cause, code, errors, message } = fieldsOf(next)
    const text = typeof message === "string" ? message : String(next)
    const named = typeof code === "string" && !text.includes(code) ? `${text} (${code})`.trim() : text
    if (named !== "") sentences.add(named)
    next = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return [...sentences]
}

/** Nobody answered; `what` says what was asked and why it ended. */
export const unreachable = (what: string, cause: unknown): BallastError =>
  new BallastError({ code: "UNREACHABLE", message: [what, ...causesOf(cause)].join(": "), cause })
