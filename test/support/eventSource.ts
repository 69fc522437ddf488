/** A client of server-sent events that reads frames as text, as the standard has them: no library of the service's. */
export interface TextFrame {
  readonly id: string | undefined
  readonly event: string | undefined
  /** The JSON of `data`, when there is any. */
  readonly data: any
  /** A line that begins with a colon. */
  readonly comment: string | undefined
  readonly retry: string | undefined
}

const parse = (text: string): TextFrame => {
  const fields = new Map<string, string>()
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":")
    fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""))
  }
  const data = fields.get("data")
  return {
    id: fields.get("id"),
    event: fields.get("event"),
    data: data === undefined ? undefined : JSON.parse(data),
    comment: fields.get(""),
    retry: fields.get("retry")
  }
}

export interface EventSource {
  readonly status: number
  readonly headers: Headers
  /** The next frame; undefined at the end of the stream. Fails when the connection is cut. */
  readonly next: () => Promise<TextFrame | undefined>
  /** The next frame that is an event. */
  readonly nextEvent: () => Promise<TextFrame | undefined>
  /** All further events, until the end. */
  readonly rest: () => Promise<ReadonlyArray<TextFrame>>
  readonly close: () => void
}

/** Opens a stream; an answer that is none has no frames. */
export const openEvents = async (url: string, headers: Readonly<Record<string, string>>): Promise<EventSource> => {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""

  const next = async (): Promise<TextFrame | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n")
      if (end !== -1) {
        const frame = parse(text.slice(0, end))
        text = text.slice(end + 2)
        return frame
      }
      const read = await reader?.read()
      if (read === undefined || read.done) return undefined
      text += read.value
    }
  }

  const nextEvent = async () => {
    for (;;) {
      const frame = await next()
      if (frame === undefined || frame.event !== undefined) return frame
    }
  }

  const rest = async () => {
    const frames: Array<TextFrame> = []
    for (let frame = await nextEvent(); frame !== undefined; frame = await nextEvent()) frames.push(frame)
    return frames
  }

  return { status: response.status, headers: response.headers, next, nextEvent, rest, close: () => abort.abort() }
}
