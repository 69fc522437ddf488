/** Port: sends one signed message to an untrusted address. */
import { Context, type Effect, type Redacted } from "effect"
import type { DeliveryId } from "#domain/values/Ids.ts"

export interface Message {
  readonly url: string
  readonly deliveryId: DeliveryId
  /** Seconds since 1970, at the attempt. */
  readonly timestamp: number
  readonly body: string
  /** Each signs. */
  readonly secrets: ReadonlyArray<Redacted.Redacted<Uint8Array>>
}

/** What the receiver answered; a null status: nothing. `problem` is why that is no success; null when it is one. */
export interface DeliveryAnswer {
  readonly status: number | null
  readonly problem: string | null
  /** The pause that the receiver requests, where it does. */
  readonly retryAfterSeconds?: number
}

/**
 * Sends one signed message to an untrusted address.
 *
 * **When to use**
 *
 * Use `refusalOf` when an address is accepted and `send` for each attempt.
 *
 * **Details**
 *
 * `send` never fails: a receiver that does not answer is a answer without a status.
 *
 * **Example** (A receiver that accepts everything)
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { WebhookSender } from "#domain/webhook/WebhookSender.ts"
 *
 * const Accepting = Layer.succeed(WebhookSender, {
 *   refusalOf: () => null,
 *   send: () => Effect.succeed({ status: 204, problem: null })
 * })
 * ```
 */
export class WebhookSender extends Context.Service<
  WebhookSender,
  {
    /** Why nothing would be sent to this address, whatever its host's name resolves to; null when something would. */
    readonly refusalOf: (url: string) => string | null
    readonly send: (message: Message) => Effect.Effect<DeliveryAnswer>
  }
>()("ballast/domain/webhook/WebhookSender") {}
