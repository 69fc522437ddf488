/** Webhooks and their deliveries as v2 shows them. */
import { DateTime, Redacted } from "effect"
import type { Delivery, Webhook } from "#domain/webhook/Webhook.ts"
import type { WithSecret } from "#domain/webhook/Webhooks.ts"

const isoOrNull = (at: DateTime.Utc | null) => (at === null ? null : DateTime.formatIso(at))

export const webhookView = ({
  createdAt,
  description,
  disabled,
  eventTypes,
  failingSince,
  previousSecretUntil,
  url,
  webhookId
}: Webhook) => ({
  webhookId,
  url,
  eventTypes,
  description,
  createdAt: DateTime.formatIso(createdAt),
  previousSecretUntil: isoOrNull(previousSecretUntil),
  failingSince: isoOrNull(failingSince),
  disabled: disabled === null ? null : { ...disabled, at: DateTime.formatIso(disabled.at) }
})

export const withSecretView = ({ secret, webhook }: WithSecret) => ({
  ...webhookView(webhook),
  secret: Redacted.value(secret)
})

export const deliveryView = ({
  attempts,
  createdAt,
  deliveryId,
  lastAttemptAt,
  lastStatus,
  nextAttemptAt,
  problem,
  sequence,
  state,
  type
}: Delivery) => ({
  deliveryId,
  eventId: sequence === null ? null : String(sequence),
  type,
  createdAt: DateTime.formatIso(createdAt),
  state,
  attempts,
  lastAttemptAt: isoOrNull(lastAttemptAt),
  lastStatus,
  problem,
  nextAttemptAt: isoOrNull(nextAttemptAt)
})
