/**
 * Frames that a stream of server-sent events sends of itself, in events of their own, which a client that listens to
 * others never sees: where it began, and why it ends. Names of such events begin with `stream.`.
 */
import { Schema } from "effect"
import { errorFields } from "#domain/errors/DomainError.ts"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"
import type { Frame } from "#http/streaming/eventStream.ts"
import { written } from "#http/values/values.ts"

const openedEvent = "stream.opened"
const endedEvent = "stream.ended"

/** Data of `stream.opened`. */
export const StreamOpened = Schema.Struct({
  after: written("The stream sends what comes after this event; the frame has the same `id`.", /^[0-9]{1,32}$/u, "1207")
}).annotate({
  identifier: "StreamOpened",
  description: "Data of the event `stream.opened`: the first one of a stream that begins now."
})

/** Data of `stream.ended`. */
export const StreamEnded = Schema.Struct({
  code: written("The code with which the key or session is refused from now on.", /^API_[0-9]{3}$/u, "API_102"),
  message: Schema.String.annotate({
    description: "Why, for people.",
    examples: ["The API key is unknown or revoked; send one that is in use in x-api-key"]
  })
}).annotate({
  identifier: "StreamEnded",
  description: "Data of the event `stream.ended`: the last one of a stream whose holder may follow no longer."
})

/** Where a stream began that begins now: it has data, since some clients forget the id of a frame without any. */
export const openedFrame = (after: string): Frame => ({
  id: after,
  event: openedEvent,
  data: JSON.stringify({ after } satisfies typeof StreamOpened.Type)
})

/** Frame without an id, so that the client's position stays. */
export const endedFrames = (why: AccessEnded): ReadonlyArray<Frame> => [
  { event: endedEvent, data: JSON.stringify(errorFields(why)) }
]
