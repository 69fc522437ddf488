/** A process that serves webhooks on the database of its environment until it is ended, at a time that may be ahead. */
import { Effect, Layer } from "effect"
import { WebhookDeliveries } from "#domain/webhook/WebhookDeliveries.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { Process } from "#test/domain/webhook/support/subscribed.ts"
import { storesOn } from "#test/support/database.ts"

await Effect.runPromise(
  Effect.gen(function* () {
    const { advance } = yield* MovableClock
    advance(Number(process.env["AHEAD_MS"]))
    yield* Layer.launch(WebhookDeliveries.fiber.pipe(Layer.provide(Process)))
  }).pipe(Effect.provide(MovableClock.layer), Effect.provide(storesOn(process.env["DATABASE_URL"]!)), Effect.scoped)
)
