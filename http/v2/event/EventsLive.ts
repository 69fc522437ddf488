import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CursorInvalid } from "#domain/errors/Errors.ts"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"
import { TenantEvents } from "#domain/event/TenantEvents.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { success } from "#http/v2/Envelope.ts"
import { requestAddress } from "#http/middleware/requestAddress.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { endedFrames, openedFrame } from "#http/streaming/ownFrames.ts"
import { eventStream, type Frame } from "#http/streaming/eventStream.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { eventIdPattern } from "#http/v2/event/EventModel.ts"
import { eventView } from "#http/v2/event/eventView.ts"

const defaultLimit = 50

/** Undefined: from now on. */
const positionOf = (lastEventId: string | undefined) =>
  lastEventId === undefined || eventIdPattern.test(lastEventId)
    ? Effect.succeed(lastEventId === undefined ? undefined : Number(lastEventId))
    : Effect.fail(
        new CursorInvalid({
          message: "Last-Event-ID is no id of this stream; send the last one that it sent, 0 for all, or none",
          details: ["Last-Event-ID: not an id of this stream"]
        })
      )

const eventFrame = (event: TenantEvent): Frame => {
  const view = eventView(event)
  return { id: view.eventId, event: view.type, data: JSON.stringify(view) }
}

export const EventsLive = HttpApiBuilder.group(
  V2,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* TenantEvents
    const closing = yield* ShutdownState
    const timing = yield* StreamTiming
    const admission = yield* StreamAdmission

    return handlers.handleAll({
      listEvents: ({ query: { after = 0, limit = defaultLimit } }) =>
        Effect.map(events.page(after, limit), (page) =>
          success({
            events: page.events.map(eventView),
            lastEventId: String(page.events.at(-1)?.sequence ?? after),
            hasMore: page.hasMore
          })
        ),
      streamEvents: Effect.fnUntraced(function* ({ headers }) {
        const { apiKeyId, tenantId } = yield* Caller
        const position = yield* positionOf(headers["last-event-id"])
        const followed = yield* events.follow(position)
        const permit = yield* admission.enter({ tenantId, credential: apiKeyId, address: yield* requestAddress })
        const frames = Stream.map(followed.events, eventFrame)
        // A client that resumes has its position already.
        const opened = openedFrame(String(followed.from))
        const stream = position === undefined ? Stream.concat(Stream.succeed(opened), frames) : frames
        const ending = { permit, framesOf: endedFrames }
        return yield* eventStream({ stream, framesOf: (frame) => [frame], ending }, closing, timing)
      })
    })
  })
).pipe(buildGroup(TenantEvents, StreamAdmission, ShutdownState, StreamTiming))
