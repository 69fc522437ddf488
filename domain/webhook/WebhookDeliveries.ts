/**
 * Sends the tenants' events to their webhooks.
 *
 * Each webhook is served by one process at a time, for a turn: it sends what is due in the order in which it came, one
 * after the other, takes further events from the tenant's log when nothing is due, and ends with the first failure. So
 * first attempts are in the order of the log, and what failed comes again later. A process that dies in a turn leaves
 * at most one message that was sent and not recorded; it is sent again when the claim has ended.
 */
import { Cause, Context, DateTime, Duration, Effect, Exit, FiberSet, Layer, Metric, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { eventRetention } from "#domain/event/TenantEvents.ts"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import { keepGoing, keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { removeInBatches } from "#domain/effects/removeInBatches.ts"
import { makeDeliveryId, makeClaimId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { type Attempt, type Claimed, DeliveryStore, type DueDelivery } from "#domain/webhook/DeliveryStore.ts"
import { EventWriter } from "#domain/webhook/EventWriter.ts"
import { afterFailure } from "#domain/webhook/retries.ts"
import { type Disabling, secretLabel, signingAt } from "#domain/webhook/Webhook.ts"
import { WebhookSender } from "#domain/webhook/WebhookSender.ts"

/** Webhooks that a process serves at the same time. A receiver that hangs holds one position, for one attempt. */
const positions = 64
/** Time after which no attempt of a turn begins, so that others get their turn. */
const turnLength = Duration.seconds(15)
/** Longer than a turn and the attempt in which it ends. */
const claimLength = Duration.seconds(60)
/** Deliveries, and events of the log, that are read in one statement. */
const dueBatch = 50
const eventBatch = 200

const idleInterval = Duration.millis(500)
const busyInterval = Duration.millis(50)
const measureInterval = Duration.seconds(15)

const pruneInterval = Duration.minutes(10)

const gone = 410

/**
 * Sends events to webhooks.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `turns` in tests.
 */
export class WebhookDeliveries extends Context.Service<
  WebhookDeliveries,
  {
    /** Claims up to so many webhooks that have something to send; answers the turn of each, which never fails. */
    readonly turns: (limit: number) => Effect.Effect<ReadonlyArray<Effect.Effect<void>>>
    readonly measure: Effect.Effect<void>
    /** Removes what is older than events are kept. */
    readonly prune: Effect.Effect<void>
  }
>()("ballast/domain/webhook/WebhookDeliveries") {
  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function* () {
      const store = yield* DeliveryStore
      const log = yield* TenantEventLog
      const sender = yield* WebhookSender
      const writer = yield* EventWriter
      const box = yield* SecretBox
      const random = yield* SecureRandom.SecureRandom
      const provideRandom = Effect.provideService(SecureRandom.SecureRandom, random)

      const disable = ({ tenantId, webhookId }: Claimed, disabling: Disabling) =>
        Effect.all(
          [
            store.disable(webhookId, disabling),
            Metric.update(Metric.withAttributes(Metrics.webhooksDisabled, { reason: disabling.reason }), 1),
            Effect.logInfo("A webhook was disabled").pipe(
              Effect.annotateLogs({ webhookId, tenantId, reason: disabling.reason })
            )
          ],
          { discard: true }
        )

      /** What signs now; none when the secret cannot be read. */
      const secretsOf = ({ formerSecrets, secret, webhookId }: Claimed, now: DateTime.Utc) => {
        const label = secretLabel(webhookId)
        const former = signingAt(formerSecrets, now).flatMap((one) => Option.toArray(box.open(label, one.secret)))
        return Option.map(box.open(label, secret), (current) => [current, ...former])
      }

      /** Takes the next events from the log; answers whether there were any. */
      const enqueue = Effect.fnUntraced(function* (webhook: Claimed, after: number) {
        const events = yield* log.read(webhook.tenantId, after, eventBatch)
        const through = events.at(-1)?.sequence
        if (through === undefined) return after
        const isSubscribed = ({ body }: TenantEvent) =>
          webhook.eventTypes === null || webhook.eventTypes.includes(body.type)
        const deliveries = yield* Effect.forEach(events.filter(isSubscribed), (event) =>
          Effect.map(provideRandom(makeDeliveryId), (deliveryId) => ({
            deliveryId,
            sequence: event.sequence,
            type: event.body.type,
            body: writer.write(event)
          }))
        )
        const { webhookId } = webhook
        yield* store.enqueue({ webhookId, after, through, at: yield* DateTime.now, deliveries })
        return through
      })

      const noteFailure = Effect.fnUntraced(function* (
        webhook: Claimed,
        { attempts, firstAttemptAt, isTest }: DueDelivery,
        attempt: Attempt
      ) {
        const { at, answer } = attempt
        const chance = (yield* random.intBetween(0, 1_000_000, { halfOpen: true })) / 1_000_000
        const failingSince = webhook.failingSince ?? at
        const next = afterFailure(
          {
            attempts: attempts + 1,
            firstAttemptAt: firstAttemptAt ?? at,
            failures: webhook.failures + 1,
            failingSince,
            retryAfterSeconds: answer.retryAfterSeconds
          },
          at,
          chance
        )
        const isGone = answer.status === gone
        const dueAt = isGone ? at : next.dueAt
        yield* store.failed(
          isTest
            ? { ...attempt, dueAt: null, webhook: null }
            : { ...attempt, dueAt, webhook: { failingSince, restsUntil: next.restsUntil } }
        )
        if (isGone) return yield* disable(webhook, { at, reason: "gone", detail: "The receiver answered 410 Gone" })
        if (isTest || !next.isDisabled) return
        const detail = `Nothing was accepted for a day; at last: ${answer.problem}`
        yield* disable(webhook, { at, reason: "failing", detail })
      })

      /** One attempt; answers whether it was accepted. */
      const deliver = Effect.fn("WebhookDeliveries.deliver")(function* (
        webhook: Claimed,
        secrets: Option.Option.Value<ReturnType<typeof secretsOf>>,
        due: DueDelivery
      ) {
        const { body, deliveryId } = due
        const timestamp = Math.floor((yield* DateTime.now).epochMilliseconds / 1000)
        const answer = yield* sender.send({ url: webhook.url, deliveryId, timestamp, body, secrets })
        const attempt: Attempt = { webhookId: webhook.webhookId, deliveryId, at: yield* DateTime.now, answer }
        const outcome = answer.problem === null ? "accepted" : answer.status === null ? "unanswered" : "refused"
        yield* Metric.update(Metric.withAttributes(Metrics.webhookAttempts, { outcome }), 1)
        if (answer.problem === null) {
          yield* store.succeeded(attempt)
          return true
        }
        yield* noteFailure(webhook, due, attempt)
        return false
      })

      const serve = Effect.fn("WebhookDeliveries.serve")(function* (webhook: Claimed) {
        const began = yield* DateTime.now
        const end = DateTime.addDuration(began, turnLength)
        const secrets = secretsOf(webhook, began)
        if (Option.isNone(secrets))
          return yield* disable(webhook, {
            at: began,
            reason: "secret_unreadable",
            detail: "The secret was stored under another pepper; rotate it, then enable the webhook"
          })
        let cursor = webhook.cursor
        // Once something was accepted, what failed before the turn is over.
        let current = webhook
        for (let now = began; DateTime.isLessThan(now, end); now = yield* DateTime.now) {
          const due = yield* store.due(webhook.webhookId, now, dueBatch)
          if (due.length === 0) {
            const through = yield* enqueue(webhook, cursor)
            if (through === cursor) return
            cursor = through
          }
          for (const delivery of due) {
            if (DateTime.isGreaterThanOrEqualTo(yield* DateTime.now, end)) return
            if (!(yield* deliver(current, secrets.value, delivery))) return
            current = { ...webhook, failures: 0, failingSince: null }
          }
        }
      })

      const turns = Effect.fn("WebhookDeliveries.turns")(function* (limit: number) {
        const now = yield* DateTime.now
        const claimId = yield* Effect.provideService(makeClaimId, SecureRandom.SecureRandom, random)
        const claimed = yield* store.claim({
          claimId,
          now,
          until: DateTime.addDuration(now, claimLength),
          limit
        })
        return claimed.map((webhook) =>
          serve(webhook).pipe(
            // What cannot be served keeps its claim, and so is left alone until that ends.
            Effect.onExit((exit) =>
              Exit.isSuccess(exit) || Exit.hasInterrupts(exit) ? store.release(webhook.webhookId, claimId) : Effect.void
            ),
            Effect.catchCause((cause) =>
              Cause.hasInterrupts(cause)
                ? Effect.failCause(cause)
                : Effect.logError("A webhook could not be served", cause).pipe(
                    Effect.annotateLogs({ webhookId: webhook.webhookId })
                  )
            )
          )
        )
      })

      const measure = Effect.gen(function* () {
        const now = yield* DateTime.now
        const oldest = yield* store.oldestDue(now)
        const age = Option.match(oldest, {
          onNone: () => 0,
          onSome: (dueAt) => Math.max(0, now.epochMilliseconds - dueAt.epochMilliseconds) / 1000
        })
        yield* Metric.update(Metrics.oldestWebhookAge, age)
      })

      const prune = Effect.gen(function* () {
        const before = DateTime.subtractDuration(yield* DateTime.now, eventRetention)
        yield* removeInBatches((limit) => store.prune(before, limit))
      })

      return WebhookDeliveries.of({ turns, measure, prune })
    })
  )

  /** The fibers that serve, measure and prune for as long as the layer lives. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const deliveries = yield* WebhookDeliveries
      const running = yield* FiberSet.make<void>()
      const round = Effect.gen(function* () {
        const free = positions - (yield* FiberSet.size(running))
        const turns = free > 0 ? yield* deliveries.turns(free) : []
        for (const turn of turns) yield* FiberSet.run(running, turn)
        return turns.length > 0 ? busyInterval : idleInterval
      })
      yield* keepGoing(round, {
        complaint: "Webhooks that are due could not be read",
        afterFault: Duration.times(idleInterval, 10)
      })
      yield* keepGoingEvery(deliveries.measure, {
        complaint: "The delay of webhooks could not be measured",
        interval: measureInterval
      })
      yield* keepGoingEvery(deliveries.prune, {
        complaint: "Old deliveries could not be removed",
        interval: pruneInterval
      })
    })
  )
}
