/** Webhooks of the calling tenant: the receivers of its events, and what became of each delivery. */
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import { CursorInvalid, NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import { type DeliveryId, makeDeliveryId, makeWebhookId, type WebhookId } from "#domain/values/Ids.ts"
import {
  type Delivery,
  type EventType,
  maxFormerSecrets,
  maxWebhooks,
  overlap,
  secretLabel,
  testType,
  type Webhook
} from "#domain/webhook/Webhook.ts"
import { WebhookSender } from "#domain/webhook/WebhookSender.ts"
import { WebhookStore } from "#domain/webhook/WebhookStore.ts"

/** Twice the minimum of the standard, which is within its maximum. */
const secretBytes = 32

export interface WebhookDraft {
  readonly url: string
  readonly description: string | null
  readonly eventTypes: ReadonlyArray<EventType> | null
}

/** A webhook at one of the moments when a secret is shown. */
export interface WithSecret {
  readonly webhook: Webhook
  /** `whsec_` and Base64. */
  readonly secret: Redacted.Redacted
}

const lists = { webhooks: "webhooks", deliveries: "webhook-deliveries" }

const notFound = (webhookId: WebhookId) =>
  new NotFound({ message: `There is no webhook ${webhookId}; GET /v2/webhooks lists the tenant's own` })

const found = (webhookId: WebhookId) =>
  Effect.flatMap((webhook: Option.Option<Webhook>) =>
    Option.isNone(webhook) ? Effect.fail(notFound(webhookId)) : Effect.succeed(webhook.value)
  )

/**
 * Webhooks of the calling tenant.
 *
 * **When to use**
 *
 * Use in routes that are called with a key. Sending is `WebhookDeliveries`.
 */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** Events from now on are sent. */
    readonly create: (draft: WebhookDraft) => Effect.Effect<WithSecret, ValidationFailed, Caller>
    readonly list: (query: PageQuery) => Effect.Effect<Page<Webhook>, CursorInvalid, Caller>
    readonly get: (webhookId: WebhookId) => Effect.Effect<Webhook, NotFound, Caller>
    /** What waits is not sent any more. */
    readonly remove: (webhookId: WebhookId) => Effect.Effect<void, NotFound, Caller>
    /** Makes a new secret; each previous one signs beside it for a day after the rotation that replaced it. */
    readonly rotate: (webhookId: WebhookId) => Effect.Effect<WithSecret, NotFound | ValidationFailed, Caller>
    /** Goes on where a disabled webhook stopped; one that is not disabled is served at once. */
    readonly enable: (webhookId: WebhookId) => Effect.Effect<Webhook, NotFound, Caller>
    /** Sends a test, once, and soon. */
    readonly test: (webhookId: WebhookId) => Effect.Effect<DeliveryId, NotFound | ValidationFailed, Caller>
    readonly deliveries: (
      webhookId: WebhookId,
      query: PageQuery
    ) => Effect.Effect<Page<Delivery>, NotFound | CursorInvalid, Caller>
  }
>()("ballast/domain/webhook/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const log = yield* TenantEventLog
      const sender = yield* WebhookSender
      const box = yield* SecretBox
      const random = yield* SecureRandom.SecureRandom
      const provideRandom = Effect.provideService(SecureRandom.SecureRandom, random)

      const newSecret = Effect.fnUntraced(function* (webhookId: WebhookId) {
        const bytes = yield* random.randomBytes(secretBytes)
        return {
          secret: Redacted.make(`whsec_${Base64.encode(bytes)}`),
          sealed: box.seal(secretLabel(webhookId), Redacted.make(bytes))
        }
      })

      const get = Effect.fn("Webhooks.get")(function* (webhookId: WebhookId) {
        const { tenantId } = yield* Caller
        return yield* found(webhookId)(store.find(tenantId, webhookId))
      })

      const create = Effect.fn("Webhooks.create")(function* ({ description, eventTypes, url }: WebhookDraft) {
        const { tenantId } = yield* Caller
        const refusal = sender.refusalOf(url)
        if (refusal !== null)
          return yield* new ValidationFailed({
            message: `Nothing can be sent to this address: ${refusal}`,
            details: [`url: ${refusal}`]
          })
        const webhookId = yield* provideRandom(makeWebhookId)
        const { sealed, secret } = yield* newSecret(webhookId)
        const webhook: Webhook = {
          webhookId,
          tenantId,
          url: new URL(url).href,
          description,
          eventTypes,
          createdAt: yield* DateTime.now,
          previousSecretUntil: null,
          failingSince: null,
          disabled: null
        }
        const { last } = yield* log.range(tenantId)
        if (!(yield* store.insert({ ...webhook, secret: sealed, cursor: last }, maxWebhooks)))
          return yield* new ValidationFailed({
            message: `A tenant has at most ${maxWebhooks} webhooks; delete one first`,
            details: [`url: ${maxWebhooks} webhooks are the most`]
          })
        return { webhook, secret }
      })

      const list = Effect.fn("Webhooks.list")(function* (query: PageQuery) {
        const { tenantId } = yield* Caller
        const request = yield* pageRequest(lists.webhooks, query)
        const rows = yield* store.list(tenantId, request)
        return page({ list: lists.webhooks, limit: request.limit, rows }, ({ createdAt, webhookId }) => ({
          createdAt,
          id: webhookId
        }))
      })

      const remove = Effect.fn("Webhooks.remove")(function* (webhookId: WebhookId) {
        const { tenantId } = yield* Caller
        if (!(yield* store.remove(tenantId, webhookId))) return yield* notFound(webhookId)
      })

      const rotate = Effect.fn("Webhooks.rotate")(function* (webhookId: WebhookId) {
        const { tenantId } = yield* Caller
        const { sealed, secret } = yield* newSecret(webhookId)
        const now = yield* DateTime.now
        const previousUntil = DateTime.addDuration(now, overlap)
        const rotated = yield* store.rotate(tenantId, webhookId, {
          secret: sealed,
          now,
          previousUntil,
          maxFormer: maxFormerSecrets
        })
        if (Option.isNone(rotated)) return yield* notFound(webhookId)
        if (!("fullUntil" in rotated.value)) return { webhook: rotated.value, secret }
        const until = DateTime.formatIso(rotated.value.fullUntil)
        return yield* new ValidationFailed({
          message: `${maxFormerSecrets} former secrets still sign, the most that may; rotate again after ${until}`,
          details: [`webhookId: rotated ${maxFormerSecrets} times in ${Duration.toHours(overlap)} hours`]
        })
      })

      const enable = Effect.fn("Webhooks.enable")(function* (webhookId: WebhookId) {
        const { tenantId } = yield* Caller
        return yield* found(webhookId)(store.enable(tenantId, webhookId, yield* DateTime.now))
      })

      const test = Effect.fn("Webhooks.test")(function* (webhookId: WebhookId) {
        const { disabled } = yield* get(webhookId)
        if (disabled !== null)
          return yield* new ValidationFailed({
            message: "The webhook is disabled, so nothing is sent; enable it first",
            details: [`webhookId: disabled (${disabled.reason})`]
          })
        const deliveryId = yield* provideRandom(makeDeliveryId)
        const at = yield* DateTime.now
        const body = JSON.stringify({
          eventId: "0",
          at: DateTime.formatIso(at),
          operationId: null,
          portfolioId: null,
          strategyId: null,
          type: testType,
          data: { webhookId }
        })
        yield* store.insertTest({ webhookId, deliveryId, body, at })
        return deliveryId
      })

      const positionOf = (id: string) =>
        /^[1-9][0-9]{0,14}$/u.test(id)
          ? Effect.succeed(Number(id))
          : Effect.fail(
              new CursorInvalid({
                message: "The cursor is malformed; send nextCursor of the previous page unchanged",
                details: ["cursor: not a cursor of this list"]
              })
            )

      const deliveries = Effect.fn("Webhooks.deliveries")(function* (webhookId: WebhookId, query: PageQuery) {
        yield* get(webhookId)
        const name = `${lists.deliveries} ${webhookId}`
        const { after, limit } = yield* pageRequest(name, query)
        const before = after === null ? null : yield* positionOf(after.id)
        const rows = yield* store.deliveries(webhookId, limit, before)
        return page({ list: name, limit, rows }, ({ createdAt, position }) => ({ createdAt, id: String(position) }))
      })

      return Webhooks.of({ create, list, get, remove, rotate, enable, test, deliveries })
    })
  )
}
