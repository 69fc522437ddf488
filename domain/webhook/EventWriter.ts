/** Port: an event as it is sent, the same text as in the API's pages of events. */
import { Context } from "effect"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"

/**
 * An event as the text that is sent.
 *
 * **When to use**
 *
 * Use in `WebhookDeliveries`, so that a webhook and a page of events say the same.
 */
export class EventWriter extends Context.Service<EventWriter, { readonly write: (event: TenantEvent) => string }>()(
  "ballast/domain/webhook/EventWriter"
) {}
