/** An address to which a tenant's events are sent, and what became of each. Source: Standard Webhooks 1.0. */
import { DateTime, Duration, Schema } from "effect"
import { EventBody } from "#domain/event/TenantEvent.ts"
import type { DeliveryId, TenantId, WebhookId } from "#domain/values/Ids.ts"

/** Every type of the tenant's log. */
export const eventTypes: ReadonlyArray<EventBody["type"]> = EventBody.members.flatMap(({ fields: { type } }) =>
  "literals" in type ? type.literals : [type.literal]
)
export const EventType = Schema.Literals(eventTypes)
export type EventType = typeof EventType.Type

/** What a test sends; it is in no log. */
export const testType = "webhook.test"

/**
 * Why nothing is sent any more: the receiver answered 410; nothing was accepted for a day; or the secret was sealed by
 * another deployment, or under another pepper.
 */
export const DisabledReason = Schema.Literals(["gone", "failing", "secret_unreadable"])
export type DisabledReason = typeof DisabledReason.Type

/** Time since which nothing is sent to a webhook, and why. */
export interface Disabling {
  readonly at: DateTime.Utc
  readonly reason: DisabledReason
  /** Sentence for people. */
  readonly detail: string
}

export interface Webhook {
  readonly webhookId: WebhookId
  readonly tenantId: TenantId
  readonly url: string
  readonly description: string | null
  /** Null: all, those included that come with later versions. */
  readonly eventTypes: ReadonlyArray<EventType> | null
  readonly createdAt: DateTime.Utc
  /** Time until which the secret that the last rotation replaced signs too. */
  readonly previousSecretUntil: DateTime.Utc | null
  /** Time of the first of the failures that no success has ended. */
  readonly failingSince: DateTime.Utc | null
  readonly disabled: Disabling | null
}

export const DeliveryState = Schema.Literals(["pending", "delivered", "failed"])
export type DeliveryState = typeof DeliveryState.Type

export interface Delivery {
  readonly deliveryId: DeliveryId
  /** Its number among all deliveries, for pages. */
  readonly position: number
  /** Null for a test. */
  readonly sequence: number | null
  readonly type: string
  readonly createdAt: DateTime.Utc
  readonly state: DeliveryState
  readonly attempts: number
  readonly lastAttemptAt: DateTime.Utc | null
  /** What the receiver answered last; null when it gave no answer. */
  readonly lastStatus: number | null
  readonly problem: string | null
  readonly nextAttemptAt: DateTime.Utc | null
}

/** Webhooks of one tenant, at most. */
export const maxWebhooks = 20

/** How long a secret signs on after the rotation that replaced it. */
export const overlap = Duration.hours(24)

/** Rotated secrets that sign beside the current one, at most. */
export const maxFormerSecrets = 4

/** A sealed secret that was rotated. */
export interface FormerSecret {
  readonly secret: Uint8Array
  /** It signs before this time. */
  readonly until: DateTime.Utc
}

/** Those that sign at a time; pure. */
export const signingAt = (secrets: ReadonlyArray<FormerSecret>, now: DateTime.Utc): ReadonlyArray<FormerSecret> =>
  secrets.filter(({ until }) => DateTime.isLessThan(now, until))

/** What a secret is sealed for. */
export const secretLabel = (webhookId: WebhookId): string => `webhook ${webhookId}`
