/** Reads timed events out of a stream's text: each says when it was made. */

/** Payload of an event that contains its time, in milliseconds since 1970. */
export const timeOf = (atMillis: number) => ({ madeAt: atMillis })

const madeAt = /"madeAt":([0-9]+(?:\.[0-9]+)?)/gu

export interface Read {
  /** Milliseconds that each timed event was on its way. */
  readonly delays: ReadonlyArray<number>
  /** What is not whole yet. */
  readonly rest: string
}

/** Events end with an empty line; of the last one the rest may still come. */
export const delaysIn = (text: string, nowMillis: number): Read => {
  const end = text.lastIndexOf("\n\n")
  if (end === -1) return { delays: [], rest: text }
  return {
    delays: [...text.slice(0, end).matchAll(madeAt)].map(([, at]) => nowMillis - Number(at)),
    rest: text.slice(end + 2)
  }
}
