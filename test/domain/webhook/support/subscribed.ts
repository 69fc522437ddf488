/** Tenants with webhooks at receivers of this machine, and the processes that send to them. */
import { DateTime, Effect, Layer, Redacted } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import type { ApiKeyId, PortfolioId, TenantId, WebhookId } from "#domain/values/Ids.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { WebhookDeliveries } from "#domain/webhook/WebhookDeliveries.ts"
import { Webhooks } from "#domain/webhook/Webhooks.ts"
import { EventWriterLive } from "#http/v2/webhook/EventWriterLive.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { SecretBoxLive } from "#layers/identity/SecretBoxLive.ts"
import { WebhookConfig } from "#layers/webhook/WebhookConfig.ts"
import { WebhookSenderLive } from "#layers/webhook/WebhookSenderLive.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { world } from "#test/layers/sql/fixtures.ts"
import { type Receiver, receiver } from "#test/support/Receiver.ts"

/** Milliseconds. */
export const hour = 3_600_000

/** One process: what sends, and the service by which webhooks are made. */
export const processUnder = (pepper: string) =>
  Layer.fresh(
    Layer.mergeAll(WebhookDeliveries.layer, Webhooks.layer).pipe(
      Layer.provide([WebhookSenderLive, SecretBoxLive, EventWriterLive]),
      Layer.provide([
        Layer.succeed(KeyHashConfig, { pepper: Redacted.make(pepper) }),
        Layer.succeed(WebhookConfig, { targets: "loopback" })
      ])
    )
  )
export const Process = processUnder("pepper of these tests")
export const World = Layer.mergeAll(Process, MovableClock.layer)

const callerOf = (tenantId: TenantId) =>
  Caller.of({
    tenantId,
    tenantName: "Acme",
    tenantEmail: "ops@acme.test",
    entitlements: new Set(),
    apiKeyId: "key_01JQ8ZKX4V6T3M9N2C5B7D8F0G" as ApiKeyId,
    scopes: new Set()
  })

/** All turns that can be had now, side by side. */
export const serve = Effect.gen(function* () {
  const deliveries = yield* WebhookDeliveries
  for (;;) {
    const turns = yield* deliveries.turns(64)
    if (turns.length === 0) return
    yield* Effect.all(turns, { concurrency: "unbounded" })
  }
})

/** A tenant with a portfolio and a webhook at a receiver of its own, to which nothing was sent yet. */
export const subscribed = Effect.fnUntraced(function* (
  eventTypes: Parameters<Webhooks["Service"]["create"]>[0]["eventTypes"] = null
) {
  const server = yield* receiver()
  const { portfolioId, tenantId } = yield* world()
  const webhooks = yield* Webhooks
  const asTenant = Effect.provideService(Caller, callerOf(tenantId))
  const { secret, webhook } = yield* asTenant(webhooks.create({ url: server.url, description: null, eventTypes }))
  const { webhookId } = webhook
  return { server, tenantId, portfolioId, webhookId, secret: Redacted.value(secret), asTenant }
})

/** Portfolios that these tests have paused. */
const paused = new Set<PortfolioId>()

/** Pauses and starts by turns, each of which the log notes. */
export const happen = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId, events: number) {
  const portfolios = yield* PortfolioStore
  for (let count = 0; count < events; count += 1) {
    const now = yield* DateTime.now
    if (paused.delete(portfolioId)) yield* portfolios.start(tenantId, portfolioId, now)
    else {
      paused.add(portfolioId)
      yield* portfolios.stop(tenantId, portfolioId, { at: now, note: null })
    }
  }
})

export const idsOf = ({ received }: Receiver) => received.map(({ body }) => Number(JSON.parse(body).eventId))

export const deliveriesOf = (webhookId: WebhookId) =>
  Effect.flatMap(Webhooks, (webhooks) => Effect.map(webhooks.deliveries(webhookId, {}), ({ items }) => items))
