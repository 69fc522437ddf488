/**
 * Frames that a stream of server-sent events sends of itself, in events of their own, which a client that listens to
 * others never sees: why it ends. Names of such events begin with `stream.`.
 */
import { Schema } from "effect"
import { errorFields } from "#domain/DomainError.ts"
import type { AccessEnded } from "#domain/identity/access/StandingAccess.ts"
import type { Frame } from "#http/streaming/eventStream.ts"
import { written } from "#http/values/values.ts"

const endedEvent = "stream.ended"

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

/** Without an id, so that the place of the client stays. */
export const endedFrames = (why: AccessEnded): ReadonlyArray<Frame> => [
  { event: endedEvent, data: JSON.stringify(errorFields(why)) }
]
