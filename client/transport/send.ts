/**
 * One call: sent, sent again while that is safe and the failure may pass, and answered or failed within its time.
 *
 * What may pass is that nobody answers, the statuses 429, 502, 503 and 504 whoever answers them, and `API_007`. What is
 * safe is what changes nothing, what has an idempotency key, and what was refused before it was begun: 429 and
 * `API_007`.
 */
import { type Answer, answerOf, errorOf, unreachable } from "#client/transport/answers.ts"
import { BallastError, notSent } from "#client/transport/BallastError.ts"
import type { Connection } from "#client/transport/Connection.ts"

export interface Request {
  readonly method: string
  /** Path from the root, with its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text; undefined for no body. */
  readonly body?: string | undefined
  /** Doing it twice is as doing it once. */
  readonly isSafe: boolean
  readonly signal?: AbortSignal | undefined
  readonly timeoutSeconds?: number | undefined
}

const passingStatuses: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504])
const firstPauseMs = 250
/** What is away for no longer than a call's time without it is there again at the last attempt. */
const longestPauseMs = 4_000
/** Where the same request is in progress and the answer does not say for how long. */
const inProgressPauseMs = 1_000

const isInProgress = ({ code }: BallastError) => code === "API_007"
const isPassing = ({ code, status }: BallastError) => code === "UNREACHABLE" || passingStatuses.has(status)

/** Random number from 0 to 1: callers that failed together do not come back together. */
export const chance = (): number => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32

/** A pause that doubles, of which up to half is left to chance. Never less than the answer asks for. */
const pauseMs = (error: BallastError, attempt: number): number => {
  const backoff = isInProgress(error) ? inProgressPauseMs : Math.min(longestPauseMs, firstPauseMs * 2 ** attempt)
  return (error.retryAfterSeconds ?? 0) * 1_000 + backoff * (1 - chance() / 2)
}

/** Resolves later; rejects with the signal's reason when it is aborted before. */
export const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort)
      resolve()
    }, ms)
    signal?.addEventListener("abort", abort, { once: true })
  })

/** What is sent, as text; `where` names it where it is nothing that JSON has. */
export const jsonOf = (value: unknown, where: string): string => {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw notSent(`${where}: is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

export const initOf = (
  connection: Connection,
  { body, headers, method }: Pick<Request, "method" | "headers" | "body">,
  signal: AbortSignal
): RequestInit => ({
  method,
  headers: {
    ...connection.headers,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...headers
  },
  ...(body === undefined ? {} : { body }),
  ...(connection.credentials === undefined ? {} : { credentials: connection.credentials }),
  signal
})

/** Time by which a call must have its answer. */
interface Limit {
  readonly endsAt: number
  readonly timeoutSeconds: number
}

/** One request and the whole of its answer. */
const once = async (connection: Connection, request: Request, { endsAt, timeoutSeconds }: Limit): Promise<Answer> => {
  const { baseUrl, fetch } = connection
  const { method, path, signal } = request
  signal?.throwIfAborted()
  const ending = new AbortController()
  const abort = () => ending.abort(signal?.reason)
  signal?.addEventListener("abort", abort, { once: true })
  const late = new Error(`nothing within the ${timeoutSeconds} seconds of timeoutSeconds`)
  const timer = setTimeout(() => ending.abort(late), Math.max(0, endsAt - performance.now()))
  try {
    return await answerOf(await fetch(`${baseUrl}${path}`, initOf(connection, request, ending.signal)))
  } catch (cause) {
    signal?.throwIfAborted()
    const why = ending.signal.aborted ? late : cause
    throw unreachable(`${method} ${baseUrl}${path.split("?", 1)[0]} was not answered`, why)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abort)
  }
}

/** `read` answers what an answer says, undefined where it is an error. */
export const send = async <A>(
  connection: Connection,
  request: Request,
  read: (answer: Answer) => A | undefined
): Promise<A> => {
  const { timeoutSeconds = connection.timeoutSeconds } = request
  const endsAt = performance.now() + timeoutSeconds * 1_000
  let repeats = 0
  while (true) {
    try {
      const answer = await once(connection, request, { endsAt, timeoutSeconds })
      const value = read(answer)
      if (value !== undefined) return value
      throw errorOf(answer)
    } catch (error) {
      if (!(error instanceof BallastError)) throw error
      const isRepeated =
        isInProgress(error) ||
        (isPassing(error) && (request.isSafe || error.status === 429) && repeats < connection.retries)
      const pause = pauseMs(error, repeats)
      if (!isRepeated || performance.now() + pause >= endsAt) throw error
      if (!isInProgress(error)) repeats += 1
      await sleep(pause, request.signal)
    }
  }
}
