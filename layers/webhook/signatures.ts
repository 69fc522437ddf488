/** Headers that let a receiver know who sent a message. Source: Standard Webhooks 1.0, "Signature scheme". */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"
import type { Message } from "#domain/webhook/WebhookSender.ts"

const signature = (secret: Redacted.Redacted<Uint8Array>, content: string): string =>
  `v1,${createHmac("sha256", Redacted.value(secret)).update(content, "utf8").digest("base64")}`

export const signedHeaders = ({ body, deliveryId, secrets, timestamp }: Message) => ({
  "webhook-id": deliveryId,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": secrets.map((secret) => signature(secret, `${deliveryId}.${timestamp}.${body}`)).join(" ")
})
