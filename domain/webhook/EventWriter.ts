/** Port: an event as it is sent, the same text as in the API's pages of events. */
import { Context } from "effect"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"

export class EventWriter extends Context.Service<EventWriter, { readonly write: (event: TenantEvent) => string }>()(
  "ballast/domain/webhook/EventWriter"
) {}
