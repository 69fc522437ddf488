/** Contract: webhooks of the calling tenant. An extension of the interface; docs/webhooks.md. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ok, page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { CommitsWithAnswer, Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { operation } from "#http/openapi/operation.ts"
import { emptyBody } from "#http/values/emptyBody.ts"
import { pageQuery } from "#http/values/PageQuery.ts"
import {
  QueuedTest,
  Webhook,
  WebhookDelivery,
  WebhookDraft,
  WebhookIdParam,
  WebhookWithSecret
} from "#http/v2/webhook/WebhookModel.ts"
import { CursorInvalid, NotFound } from "#http/wireErrors.ts"

const params = { webhookId: WebhookIdParam }
const [read, write] = ["tenant:read", "tenant:write"] as const

const create = HttpApiEndpoint.post("createWebhook", "/webhooks", {
  payload: WebhookDraft,
  success: ok(WebhookWithSecret).pipe(HttpApiSchema.status(201))
})
  .middleware(Idempotency)
  .annotate(CommitsWithAnswer, true)
  .annotateMerge(
    operation({
      id: "createWebhook",
      summary: "Create a webhook",
      description:
        "Sends events of the tenant's log from now on to an address, signed as Standard Webhooks 1.0 has it. The secret is shown in this answer alone. A tenant has at most 20 webhooks.",
      scope: write,
      tier: "critical"
    })
  )

const list = HttpApiEndpoint.get("listWebhooks", "/webhooks", {
  query: pageQuery,
  success: page(
    Schema.Struct({ webhooks: Schema.Array(Webhook).annotate({ description: "The page, newest first." }) })
  ),
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listWebhooks",
    summary: "List webhooks",
    description: "The tenant's webhooks, newest first.",
    scope: read,
    tier: "general"
  })
)

const get = HttpApiEndpoint.get("getWebhook", "/webhooks/:webhookId", {
  params,
  success: ok(Webhook),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getWebhook",
    summary: "Get a webhook",
    description: "One of the tenant's webhooks: whether it fails, and why it was disabled.",
    scope: read,
    tier: "burst"
  })
)

const remove = HttpApiEndpoint.delete("deleteWebhook", "/webhooks/:webhookId", {
  params,
  success: ok(Schema.Struct({ webhookId: WebhookIdParam })),
  error: NotFound
}).annotateMerge(
  operation({
    id: "deleteWebhook",
    summary: "Delete a webhook",
    description: "Nothing more is sent to it, and its secrets are forgotten.",
    scope: write,
    tier: "general"
  })
)

const rotate = HttpApiEndpoint.post("rotateWebhookSecret", "/webhooks/:webhookId/rotate-secret", {
  params,
  payload: emptyBody,
  success: ok(WebhookWithSecret),
  error: NotFound,
  disableCodecs: true
})
  .middleware(Idempotency)
  .annotate(CommitsWithAnswer, true)
  .annotateMerge(
    operation({
      id: "rotateWebhookSecret",
      summary: "Rotate a webhook's secret",
      description:
        "Makes a new secret, shown in this answer alone. For 24 hours the previous secret signs too, so that receivers can be changed one after the other. Each rotated secret keeps its 24 hours when it is rotated again: `webhook-signature` then has up to five signatures. A fifth rotation within 24 hours is refused (`API_400`) and says from when on it is accepted.",
      scope: write,
      tier: "critical"
    })
  )

const enable = HttpApiEndpoint.post("enableWebhook", "/webhooks/:webhookId/enable", {
  params,
  payload: emptyBody,
  success: ok(Webhook),
  error: NotFound,
  disableCodecs: true
}).annotateMerge(
  operation({
    id: "enableWebhook",
    summary: "Enable a webhook",
    description:
      "Goes on where a disabled webhook stopped: what waits is sent at once, then what came since, as far as events are kept. One that fails is served at once.",
    scope: write,
    tier: "general"
  })
)

const test = HttpApiEndpoint.post("testWebhook", "/webhooks/:webhookId/test", {
  params,
  payload: emptyBody,
  success: ok(QueuedTest).pipe(HttpApiSchema.status(202)),
  error: NotFound,
  disableCodecs: true
})
  .middleware(Idempotency)
  .annotate(CommitsWithAnswer, true)
  .annotateMerge(
    operation({
      id: "testWebhook",
      summary: "Send a test event",
      description:
        "Sends one event of the type `webhook.test`, signed like any other, once: a test is not repeated and does not count as a failure. A disabled webhook must be enabled first.",
      scope: write,
      tier: "critical"
    })
  )

const deliveries = HttpApiEndpoint.get("listWebhookDeliveries", "/webhooks/:webhookId/deliveries", {
  params,
  query: pageQuery,
  success: page(
    Schema.Struct({
      deliveries: Schema.Array(WebhookDelivery).annotate({ description: "The page, newest first." })
    })
  ),
  error: [NotFound, CursorInvalid]
}).annotateMerge(
  operation({
    id: "listWebhookDeliveries",
    summary: "List deliveries",
    description: "What became of each event at a webhook, kept for 30 days, newest first.",
    scope: read,
    tier: "general"
  })
)

export const Webhooks = HttpApiGroup.make("webhooks")
  .annotate(OpenApi.Title, "Webhooks")
  .annotate(OpenApi.Description, "Events sent to an integrator's own server, signed.")
  .add(create, list, get, remove, rotate, enable, test, deliveries)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
