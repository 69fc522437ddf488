/** Server-sent events, read off a body as the standard of HTML says. */

export interface SentEvent {
  readonly data: string
  /** The last id that the stream has given, undefined before the first. */
  readonly id: string | undefined
}

/** What a reader receives: an event, or that the server asks for a pause before the next connection. */
export type Frame = { readonly event: SentEvent } | { readonly retryMs: number; readonly id: string | undefined }

/** Characters that one event may have. */
const maxEventSize = 1_048_576

/** Made for one body; each call takes the next part of its text and answers what became whole by it. */
export const framesReader = (): ((text: string) => ReadonlyArray<Frame>) => {
  let rest = ""
  let id: string | undefined
  let data: Array<string> = []
  let retryMs: number | undefined
  let size = 0

  /** What a blank line ends. */
  const flush = (): ReadonlyArray<Frame> => {
    const frames: Array<Frame> = []
    if (data.length > 0) frames.push({ event: { data: data.join("\n"), id } })
    if (retryMs !== undefined) frames.push({ retryMs, id })
    data = []
    retryMs = undefined
    size = 0
    return frames
  }

  const take = (line: string): ReadonlyArray<Frame> => {
    if (line === "") return flush()
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1))
    if (field === "data") {
      data.push(value)
      size += value.length
    } else if (field === "id" && !value.includes("\0")) id = value
    else if (field === "retry" && /^\d+$/u.test(value)) retryMs = Number(value)
    return []
  }

  return (text) => {
    // A carriage return at the end may be half of a line's end.
    const whole = rest + text
    const lines = whole.split(/\r\n|\n|\r(?!$)/u)
    rest = lines.pop()!
    const frames = lines.flatMap(take)
    if (size + rest.length > maxEventSize) throw new Error("an event of the stream is longer than 1 MiB")
    return frames
  }
}
