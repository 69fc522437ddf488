/** Port: where webhooks and their deliveries are kept, for their tenants. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { DeliveryId, TenantId, WebhookId } from "#domain/values/Ids.ts"
import type { Delivery, EventType, Webhook } from "#domain/webhook/Webhook.ts"

export interface NewWebhook {
  readonly webhookId: WebhookId
  readonly tenantId: TenantId
  readonly url: string
  readonly description: string | null
  readonly eventTypes: ReadonlyArray<EventType> | null
  readonly createdAt: DateTime.Utc
  readonly secret: Uint8Array
  /** Events after this one are sent. */
  readonly cursor: number
}

export interface NewSecret {
  readonly secret: Uint8Array
  readonly now: DateTime.Utc
  /** Time until which the previous secret signs too. */
  readonly previousUntil: DateTime.Utc
  /** Rotated secrets that may sign beside it. */
  readonly maxFormer: number
}

/** A webhook with its new secret; or, where as many as may be sign already, until when the first of them does. */
export type Rotated = Webhook | { readonly fullUntil: DateTime.Utc }

export interface TestMessage {
  readonly webhookId: WebhookId
  readonly deliveryId: DeliveryId
  readonly body: string
  readonly at: DateTime.Utc
}

/**
 * Where webhooks are kept.
 *
 * **When to use**
 *
 * Use in `Webhooks` and where secrets are sealed anew. What waits to be sent is `DeliveryStore`.
 */
export class WebhookStore extends Context.Service<
  WebhookStore,
  {
    /** False when the tenant has `limit` webhooks already. */
    readonly insert: (webhook: NewWebhook, limit: number) => Effect.Effect<boolean>
    /** One row more than requested, newest first. */
    readonly list: (tenantId: TenantId, request: PageRequest) => Effect.Effect<ReadonlyArray<Webhook>>
    readonly find: (tenantId: TenantId, webhookId: WebhookId) => Effect.Effect<Option.Option<Webhook>>
    /** False when there is none. */
    readonly remove: (tenantId: TenantId, webhookId: WebhookId) => Effect.Effect<boolean>
    /** What was rotated before and still signs goes on until its own time; of these there are `maxFormer` at most. */
    readonly rotate: (
      tenantId: TenantId,
      webhookId: WebhookId,
      secret: NewSecret
    ) => Effect.Effect<Option.Option<Rotated>>
    /** Nothing counts against it any more, and what waits is due now. */
    readonly enable: (
      tenantId: TenantId,
      webhookId: WebhookId,
      now: DateTime.Utc
    ) => Effect.Effect<Option.Option<Webhook>>
    /** Sealed secrets of webhooks, previous ones included while they are kept, in the order of their ids. */
    readonly sealed: (
      after: WebhookId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<{ readonly webhookId: WebhookId; readonly secrets: ReadonlyArray<Uint8Array> }>>
    /** Puts another seal in the place of one, where it still is. */
    readonly exchangeSecret: (webhookId: WebhookId, from: Uint8Array, to: Uint8Array) => Effect.Effect<void>
    /** Due at once, even while the webhook pauses. */
    readonly insertTest: (message: TestMessage) => Effect.Effect<void>
    /** One row more than requested, newest first, before a position. */
    readonly deliveries: (
      webhookId: WebhookId,
      limit: number,
      before: number | null
    ) => Effect.Effect<ReadonlyArray<Delivery>>
  }
>()("ballast/domain/webhook/WebhookStore") {}
