/** Table of the envelope in which each path answers errors. Routes or not, every path has one. */
import { type Envelope, envelopeOfExecute, envelopeV1, envelopeV2 } from "#http/envelopes.ts"

/** Envelopes of single paths, and of all that is below one. */
const ofPath = new Map<string, Envelope>()
const belowPath = new Map<string, Envelope>([
  ["/", envelopeV2],
  ["/v1/", envelopeV1],
  // The legacy execute routes stand outside of `/v1/`.
  ["/portfolio/", envelopeOfExecute]
])

/** Errors at one path are in this envelope. */
export const addEnvelopeAt = (path: string, envelope: Envelope): void => void ofPath.set(path, envelope)

/** Errors of everything below a path, which ends with a slash, are in this envelope, those of no route too. */
export const addEnvelope = (below: string, envelope: Envelope): void => void belowPath.set(below, envelope)

/** The envelope of errors at a path, with or without a query: its own, or that of the longest path it is below. */
export const envelopeAt = (url: string): Envelope => {
  const [path = ""] = url.split("?", 1)
  const own = ofPath.get(path)
  if (own !== undefined) return own
  let [longest, found]: [string, Envelope] = ["", envelopeV2]
  for (const [below, envelope] of belowPath)
    if (path.startsWith(below) && below.length > longest.length) [longest, found] = [below, envelope]
  return found
}
