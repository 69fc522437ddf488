/** Events are sent to webhooks as the API's pages show them. */
import { Layer } from "effect"
import { EventWriter } from "#domain/webhook/EventWriter.ts"
import { eventView } from "#http/v2/event/eventView.ts"

export const EventWriterLive = Layer.succeed(EventWriter, { write: (event) => JSON.stringify(eventView(event)) })
