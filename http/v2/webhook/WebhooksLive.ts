import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Webhooks } from "#domain/webhook/Webhooks.ts"
import { success, successPage } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { deliveryView, webhookView, withSecretView } from "#http/v2/webhook/webhookView.ts"

export const WebhooksLive = HttpApiBuilder.group(
  V2,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks

    return handlers.handleAll({
      createWebhook: ({ payload: { description = null, eventTypes = null, url } }) =>
        Effect.map(webhooks.create({ url, description, eventTypes }), (made) => success(withSecretView(made))),
      listWebhooks: ({ query }) =>
        Effect.map(webhooks.list(query), (page) => successPage({ webhooks: page.items.map(webhookView) }, page)),
      getWebhook: ({ params }) =>
        Effect.map(webhooks.get(params.webhookId), (webhook) => success(webhookView(webhook))),
      deleteWebhook: ({ params }) =>
        Effect.as(webhooks.remove(params.webhookId), success({ webhookId: params.webhookId })),
      rotateWebhookSecret: ({ params }) =>
        Effect.map(webhooks.rotate(params.webhookId), (rotated) => success(withSecretView(rotated))),
      enableWebhook: ({ params }) =>
        Effect.map(webhooks.enable(params.webhookId), (webhook) => success(webhookView(webhook))),
      testWebhook: ({ params }) => Effect.map(webhooks.test(params.webhookId), (deliveryId) => success({ deliveryId })),
      listWebhookDeliveries: ({ params, query }) =>
        Effect.map(webhooks.deliveries(params.webhookId, query), (page) =>
          successPage({ deliveries: page.items.map(deliveryView) }, page)
        )
    })
  })
).pipe(buildGroup(Webhooks))
