/**
 * Server-sent events over connections that end: each is opened after the last event of the one before, later after each
 * failure in a row, and never sooner than the server asks.
 */
import { answerOf, errorOf, unreachable } from "#client/transport/answers.ts"
import { BallastError } from "#client/transport/BallastError.ts"
import type { Connection } from "#client/transport/Connection.ts"
import { framesReader } from "#client/transport/frames.ts"
import { chance, initOf, sleep } from "#client/transport/send.ts"

/** Attempts in a row that come to nothing; the last one's error is the follower's. */
const maxFailures = 8
const firstPauseMs = 1_000
const longestPauseMs = 30_000
/** The service sends a comment every 15 seconds. */
const silenceMs = 45_000

/** Refusals that another attempt does not change: all of the API's but too many requests and its own faults. */
const isFinal = ({ code, status }: BallastError): boolean =>
  code !== "UNREACHABLE" && !(status !== undefined && (status >= 500 || status === 429))

export interface Following {
  readonly connection: Connection
  readonly method: "GET" | "POST"
  readonly path: string
  /** JSON text. */
  readonly body?: string
  /** Goes on after this id; left out: from now on. */
  readonly after?: string | undefined
}

const jsonIn = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new BallastError({ code: "UNEXPECTED_ANSWER", message: "An event of the stream is not JSON", cause })
  }
}

/** Text of a body, until it ends or the signal closes it. */
async function* textsOf(response: Response, onText: () => void): AsyncGenerator<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      onText()
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function* connections(
  { after, body, connection, method, path }: Following,
  leaving: AbortSignal
): AsyncGenerator<unknown, void> {
  let last = after
  let wishedMs = firstPauseMs
  let failures = 0

  /** Events of one connection; "seen" where there is none any more. */
  async function* events(): AsyncGenerator<unknown, "seen" | undefined> {
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const within = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => ending.abort(new Error(`silent for ${ms / 1_000} seconds`)), ms)
    }
    const headers = { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) }
    try {
      within(connection.timeoutSeconds * 1_000)
      const url = `${connection.baseUrl}${path}`
      const signal = AbortSignal.any([ending.signal, leaving])
      const init = initOf(connection, { method, headers, body }, signal)
      const response = await connection.fetch(url, init).catch((cause: unknown) => {
        throw unreachable(`${method} ${url} was not answered`, cause)
      })
      if (response.status === 204) return "seen"
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
      if (!response.ok || !isStream) throw errorOf(await answerOf(response))
      const read = framesReader()
      within(silenceMs)
      for await (const text of textsOf(response, () => within(silenceMs)))
        for (const frame of read(text)) {
          failures = 0
          if ("event" in frame) {
            last = frame.event.id ?? last
            yield jsonIn(frame.event.data)
          } else {
            wishedMs = frame.retryMs
            // Where the stream stood at the first connection, so that the next one misses nothing.
            last ??= frame.id
          }
        }
      return undefined
    } catch (error) {
      throw error instanceof BallastError ? error : unreachable(`${method} ${path} broke`, error)
    } finally {
      clearTimeout(timer)
      ending.abort()
    }
  }

  while (true) {
    let atLeastMs = 0
    try {
      if ((yield* events()) === "seen") return
    } catch (error) {
      if (leaving.aborted) return
      if (!(error instanceof BallastError) || isFinal(error)) throw error
      failures += 1
      if (failures >= maxFailures) throw error
      atLeastMs = (error.retryAfterSeconds ?? 0) * 1_000
    }
    const backoff = Math.min(longestPauseMs, wishedMs * 2 ** Math.max(0, failures - 1))
    await sleep(Math.max(atLeastMs, backoff * (1 - chance() / 2)), leaving).catch(() => {})
    if (leaving.aborted) return
  }
}

/**
 * The data of each event. Ends when the service says that all has been seen (204); fails with what another attempt does
 * not change. Leaving the loop closes the connection, at once where it waits.
 */
export const follow = (following: Following): AsyncIterable<unknown> => ({
  [Symbol.asyncIterator]: () => {
    const leaving = new AbortController()
    const events = connections(following, leaving.signal)
    return {
      next: () => events.next(),
      return: async () => {
        leaving.abort()
        await events.return()
        return { done: true, value: undefined }
      }
    }
  }
})

/** Each item as what `map` makes of it; undefined is left out. Ends after an item that `isLast`. */
export const mapped = <A, B>(
  items: AsyncIterable<A>,
  map: (item: A) => B | undefined,
  isLast: (item: B) => boolean = () => false
): AsyncIterable<B> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = items[Symbol.asyncIterator]()
    let isOver = false
    const leave = async (): Promise<IteratorReturnResult<undefined>> => {
      isOver = true
      await iterator.return?.()
      return { done: true, value: undefined }
    }
    return {
      next: async () => {
        while (true) {
          if (isOver) break
          const next = await iterator.next()
          if (next.done === true) break
          const value = map(next.value)
          if (value === undefined) continue
          if (isLast(value)) void leave()
          return { done: false, value }
        }
        return leave()
      },
      return: leave
    }
  }
})
