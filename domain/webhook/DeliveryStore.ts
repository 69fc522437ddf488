/** Port: deliveries that wait to be sent, and their claims. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ClaimId, DeliveryId, TenantId, WebhookId } from "#domain/values/Ids.ts"
import type { Disabling, FormerSecret } from "#domain/webhook/Webhook.ts"
import type { DeliveryAnswer } from "#domain/webhook/WebhookSender.ts"

/** A webhook that one process serves until its claim ends. */
export interface Claimed {
  readonly webhookId: WebhookId
  readonly tenantId: TenantId
  readonly url: string
  /** Types as they were stored: a version without one of them serves the others. */
  readonly eventTypes: ReadonlyArray<string> | null
  readonly secret: Uint8Array
  /** Newest first; some may sign no longer. */
  readonly formerSecrets: ReadonlyArray<FormerSecret>
  readonly cursor: number
  readonly failures: number
  readonly failingSince: DateTime.Utc | null
}

export interface DeliveryClaim {
  readonly claimId: ClaimId
  readonly now: DateTime.Utc
  readonly until: DateTime.Utc
  readonly limit: number
}

export interface DueDelivery {
  readonly deliveryId: DeliveryId
  readonly isTest: boolean
  readonly body: string
  readonly attempts: number
  readonly firstAttemptAt: DateTime.Utc | null
}

export interface NewDelivery {
  readonly deliveryId: DeliveryId
  readonly sequence: number
  readonly type: string
  readonly body: string
}

/**
 * The events from one position of the tenant's log to another, of which those that the webhook subscribes to are sent.
 */
export interface Batch {
  readonly webhookId: WebhookId
  readonly after: number
  readonly through: number
  readonly at: DateTime.Utc
  readonly deliveries: ReadonlyArray<NewDelivery>
}

export interface Attempt {
  readonly webhookId: WebhookId
  readonly deliveryId: DeliveryId
  readonly at: DateTime.Utc
  readonly answer: DeliveryAnswer
}

/** What a failed attempt leaves. */
export interface FailedAttempt extends Attempt {
  /** Null: given up. */
  readonly dueAt: DateTime.Utc | null
  /** What it means for the webhook; null when it means nothing, because it was a test. */
  readonly webhook: { readonly failingSince: DateTime.Utc; readonly restsUntil: DateTime.Utc } | null
}

/**
 * What waits to be sent to webhooks.
 *
 * **When to use**
 *
 * Use in `WebhookDeliveries` alone.
 */
export class DeliveryStore extends Context.Service<
  DeliveryStore,
  {
    /** Claims webhooks that no process serves and that have something to send, those first that waited longest. */
    readonly claim: (claim: DeliveryClaim) => Effect.Effect<ReadonlyArray<Claimed>>
    /** Ends a claim before its time; nothing when it is another's by now. */
    readonly release: (webhookId: WebhookId, claimId: ClaimId) => Effect.Effect<void>
    /** Deliveries of a webhook that are due, in the order in which they came. */
    readonly due: (webhookId: WebhookId, now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<DueDelivery>>
    /** Writes deliveries and moves the cursor in one transaction; nothing when the cursor is elsewhere by now. */
    readonly enqueue: (batch: Batch) => Effect.Effect<void>
    readonly succeeded: (attempt: Attempt) => Effect.Effect<void>
    readonly failed: (attempt: FailedAttempt) => Effect.Effect<void>
    /** Keeps the first reason. */
    readonly disable: (webhookId: WebhookId, disabling: Disabling) => Effect.Effect<void>
    /** Finds since when the oldest delivery is due of a webhook that does not fail. */
    readonly oldestDue: (now: DateTime.Utc) => Effect.Effect<Option.Option<DateTime.Utc>>
    /** Removes at most `limit` deliveries older than `before`; answers how many. */
    readonly prune: (before: DateTime.Utc, limit: number) => Effect.Effect<number>
  }
>()("ballast/domain/webhook/DeliveryStore") {}
