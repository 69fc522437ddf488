/** Webhooks and their deliveries on the wire. */
import { Schema } from "effect"
import { DeliveryId, WebhookId } from "#domain/values/Ids.ts"
import { DeliveryState, DisabledReason, EventType } from "#domain/webhook/Webhook.ts"
import { freeText } from "#http/values/freeText.ts"
import { prose, timestamp, written } from "#http/values/values.ts"

const exampleUrl = "https://hooks.example.com/ballast"

const url = "Where events are sent, as JSON by POST."

export const WebhookIdParam = WebhookId.annotate({ description: "Id of the webhook." })

const DeliveryIdText = DeliveryId.annotate({
  description: "Id of the message; every attempt sends it as `webhook-id`."
})

const Description = freeText({ minimum: 1, maximum: 200 }, "Sentence for people.", "Order desk")

export const WebhookDraft = Schema.Struct({
  url: Schema.String.check(Schema.isBetweenLength(1, 2_048, { expected: "a URL of at most 2048 characters" })).annotate(
    {
      description: `${url} An https URL on port 443 or 8443 of a host of the internet, without user name, password and fragment.`,
      examples: [exampleUrl]
    }
  ),
  eventTypes: Schema.optionalKey(
    Schema.Array(EventType)
      .check(Schema.isBetweenLength(1, 32, { expected: "1 to 32 types" }), Schema.isUnique())
      .annotate({
        description: "Types of events that are sent. Left out: all, those of later versions included.",
        examples: [["operation.state_changed", "portfolio.started", "portfolio.paused"]]
      })
  ),
  description: Schema.optionalKey(Description)
}).annotate({ identifier: "WebhookDraft", description: "A webhook to be created." })

const fields = {
  webhookId: WebhookIdParam,
  url: prose(url, 6_200, exampleUrl),
  eventTypes: Schema.NullOr(Schema.Array(EventType)).annotate({
    description: "Types of events that are sent; null: all.",
    examples: [["operation.state_changed", "portfolio.started", "portfolio.paused"]]
  }),
  description: Schema.NullOr(prose("Sentence for people.", 400, "Order desk")).annotate({
    description: "Sentence for people.",
    examples: ["Order desk"]
  }),
  createdAt: timestamp("Time of its creation"),
  previousSecretUntil: Schema.NullOr(timestamp("Time")).annotate({
    description:
      "Time until which the secret that the last rotation replaced signs too; null when there was no rotation.",
    examples: [null]
  }),
  failingSince: Schema.NullOr(timestamp("Time")).annotate({
    description: "Time since which nothing has been accepted; null when the last event was.",
    examples: [null]
  }),
  disabled: Schema.NullOr(
    Schema.Struct({
      at: timestamp("Time at which it was disabled"),
      reason: DisabledReason.annotate({
        description:
          "`gone`: the receiver answered 410. `failing`: nothing was accepted for a day. `secret_unreadable`: the service can no longer read the secret; rotate it.",
        examples: ["failing"]
      }),
      detail: prose("Sentence for people.", 400, "Nothing was accepted for a day; at last: The receiver answered 500")
    })
  ).annotate({
    description:
      "Why the webhook is disabled; null while it is enabled. Events that wait are sent once it is enabled again.",
    examples: [null]
  })
}

export const Webhook = Schema.Struct(fields).annotate({
  identifier: "Webhook",
  description: "An address to which events are sent."
})

const Secret = written(
  "Shown this once. Messages are signed with it, as Standard Webhooks 1.0 has it.",
  /^whsec_[A-Za-z0-9+/]{43}=$/u,
  "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDYhWzJd2c0qM="
)

export const WebhookWithSecret = Schema.Struct({ ...fields, secret: Secret }).annotate({
  identifier: "WebhookWithSecret",
  description: "A webhook at the moment when its secret is shown."
})

export const WebhookDelivery = Schema.Struct({
  deliveryId: DeliveryIdText,
  eventId: Schema.NullOr(written("Number of the event in the tenant's log.", /^[1-9][0-9]{0,14}$/u, "1207")).annotate({
    description: "Number of the event in the tenant's log; null for a test.",
    examples: ["1207"]
  }),
  type: written("Type of the event; `webhook.test` for a test.", /^[a-z_]+\.[a-z_]+$/u, "operation.state_changed"),
  createdAt: timestamp("Time at which it was taken from the log"),
  state: DeliveryState.annotate({
    description: "`pending`: waits, or is tried again. `delivered`: accepted. `failed`: given up.",
    examples: ["delivered"]
  }),
  attempts: Schema.Int.annotate({ description: "How often it was sent.", examples: [1] }),
  lastAttemptAt: Schema.NullOr(timestamp("Time")).annotate({
    description: "Time of the last attempt; null when it was not yet.",
    examples: ["2026-03-02T09:30:00.000Z"]
  }),
  lastStatus: Schema.NullOr(Schema.Int).annotate({
    description: "The last answer's HTTP status; null when there was no answer.",
    examples: [200]
  }),
  problem: Schema.NullOr(prose("Sentence for people.", 400, "The receiver answered 500")).annotate({
    description: "Why the last attempt was no success; null when it was.",
    examples: [null]
  }),
  nextAttemptAt: Schema.NullOr(timestamp("Time")).annotate({
    description: "Earliest time of the next attempt; null when it is not.",
    examples: [null]
  })
}).annotate({ identifier: "WebhookDelivery", description: "What became of one event at a webhook." })

export const QueuedTest = Schema.Struct({ deliveryId: DeliveryIdText }).annotate({
  description: "The test; what became of it is in the webhook's deliveries."
})
