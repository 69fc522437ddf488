/**
 * Seals the secrets of webhooks under the pepper of today, while another one is accepted beside it. Each is exchanged
 * for what was read, so a secret that its tenant rotates meanwhile stays as it was rotated.
 */
import { Duration, Effect, Layer, Option } from "effect"
import { SecretBox } from "#domain/identity/SecretBox.ts"
import type { WebhookId } from "#domain/values/Ids.ts"
import { secretLabel } from "#domain/webhook/Webhook.ts"
import { WebhookStore } from "#domain/webhook/WebhookStore.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

const pageSize = 200
/** Again and again: processes that do not have the new pepper yet go on sealing under the one before. */
const interval = Duration.minutes(10)

/** Goes over all webhooks once; answers how many secrets were sealed anew. */
export const resealSecrets = Effect.gen(function* () {
  const store = yield* WebhookStore
  const box = yield* SecretBox
  let after: WebhookId | null = null
  let resealed = 0
  for (;;) {
    const page: ReadonlyArray<{ readonly webhookId: WebhookId; readonly secrets: ReadonlyArray<Uint8Array> }> =
      yield* store.sealed(after, pageSize)
    for (const { secrets, webhookId } of page)
      for (const from of secrets) {
        const to = box.reseal(secretLabel(webhookId), from)
        if (Option.isNone(to)) continue
        yield* store.exchangeSecret(webhookId, from, to.value)
        resealed += 1
      }
    if (page.length < pageSize) return resealed
    after = page.at(-1)!.webhookId
  }
}).pipe(Effect.withSpan("resealSecrets"))

/** Does so every ten minutes while two peppers are accepted. */
export const SecretReseal = Layer.effectDiscard(
  Effect.gen(function* () {
    if (!(yield* SecretBox).isExchanging) return
    yield* resealSecrets.pipe(
      Effect.tap((resealed) => Effect.logInfo(`${resealed} secrets of webhooks were sealed under the new pepper`)),
      (round) => keepGoingEvery(round, { complaint: "Secrets of webhooks could not be sealed anew", interval })
    )
  })
)
