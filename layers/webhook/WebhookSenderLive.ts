/**
 * Sends messages over HTTP. The status alone decides: a 2xx within the timeout is success, a redirect is not followed.
 * Of the body a little is read, so that the connection can be used again, and nothing is kept.
 */
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { Agent, type Dispatcher, request } from "undici"
import { type Message, type DeliveryAnswer, WebhookSender } from "#domain/webhook/WebhookSender.ts"
import { AddressRefused, guardedConnector, type Resolve, systemResolve } from "#layers/webhook/guardedConnector.ts"
import { refusalOf } from "#layers/webhook/targetRules.ts"
import { WebhookConfig } from "#layers/webhook/WebhookConfig.ts"
import { createHmac } from "node:crypto"

const signature = (secret: Redacted.Redacted<Uint8Array>, content: string): string =>
  `v1,${createHmac("sha256", Redacted.value(secret)).update(content, "utf8").digest("base64")}`

/** Headers that let a receiver know who sent a message. Source: Standard Webhooks 1.0, "Signature scheme". */
export const signedHeaders = ({ body, deliveryId, secrets, timestamp }: Message) => ({
  "webhook-id": deliveryId,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": secrets.map((secret) => signature(secret, `${deliveryId}.${timestamp}.${body}`)).join(" ")
})

/** What tests replace. */
export const WebhookWire = Context.Reference<{
  readonly resolve: Resolve
  /** Time from resolving the name to the head of the answer. */
  readonly timeout: Duration.Duration
  /** Time for the body of an answer that counts already. */
  readonly bodyTimeout: Duration.Duration
}>("ballast/layers/webhook/WebhookWire", {
  defaultValue: () => ({ resolve: systemResolve, timeout: Duration.seconds(10), bodyTimeout: Duration.seconds(1) })
})

const maxBody = 16_384
const maxHeaders = 16_384
const maxOrigins = 10_000
const userAgent = "Ballast-Webhooks/1"

const reasons: Readonly<Record<string, string>> = {
  ADDRESS_REFUSED: "The host does not resolve to addresses of the internet alone",
  ECONNREFUSED: "The connection was refused",
  ECONNRESET: "The connection was broken off",
  ENOTFOUND: "The host's name does not resolve",
  EAI_AGAIN: "The host's name does not resolve",
  UND_ERR_HEADERS_OVERFLOW: "The head of the answer is too large",
  UND_ERR_SOCKET: "The connection was broken off",
  CERT_HAS_EXPIRED: "The certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The certificate is signed by itself",
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is another host's"
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : ""

/** A text of ours: an error's own may reveal the network that the service runs in. */
const reasonOf = (error: unknown): string =>
  reasons[codeOf(error)] ??
  (error instanceof AggregateError && error.errors.length > 0
    ? (reasons[codeOf(error.errors[0])] ?? "No connection could be made")
    : "No connection could be made")

const problemOf = (status: number): string | null => {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? `The receiver answered ${status}; redirects are not followed`
    : `The receiver answered ${status}`
}

/** Seconds alone; a date is a matter of two clocks. */
const retryAfterOf = (header: string | ReadonlyArray<string> | undefined) =>
  typeof header === "string" && /^[0-9]{1,6}$/u.test(header) ? { retryAfterSeconds: Number(header) } : {}

/** `bodyTimeout` is in milliseconds. */
const makePost = (dispatcher: Dispatcher, bodyTimeout: number) => async (message: Message, signal: AbortSignal) => {
  const { body, headers, statusCode } = await request(message.url, {
    dispatcher,
    method: "POST",
    signal,
    headers: { "content-type": "application/json", "user-agent": userAgent, ...signedHeaders(message) },
    body: message.body
  })
  // The answer has been given; what becomes of its body changes nothing.
  await body.dump({ limit: maxBody, signal: AbortSignal.timeout(bodyTimeout) }).catch(() => body.destroy())
  const problem = problemOf(statusCode)
  return {
    status: statusCode,
    problem,
    ...(problem === null ? {} : retryAfterOf(headers["retry-after"]))
  } satisfies DeliveryAnswer
}

export const WebhookSenderLive = Layer.effect(
  WebhookSender,
  Effect.gen(function* () {
    const { targets } = yield* WebhookConfig
    const { bodyTimeout, resolve, timeout } = yield* WebhookWire
    const timeoutMs = Duration.toMillis(timeout)
    const agent = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new Agent({
            connect: guardedConnector(targets, resolve, timeoutMs),
            maxHeaderSize: maxHeaders,
            maxOrigins,
            pipelining: 1
          })
      ),
      (open) => Effect.promise(() => open.destroy())
    )
    const post = makePost(agent, Duration.toMillis(bodyTimeout))

    const send = Effect.fn("WebhookSender.send")((message: Message): Effect.Effect<DeliveryAnswer> => {
      const refusal = refusalOf(message.url, targets)
      if (refusal !== null) return Effect.succeed<DeliveryAnswer>({ status: null, problem: `Not sent: ${refusal}` })
      return Effect.tryPromise({
        try: (interrupted) => {
          // Of the machine's time, whatever clock the service follows.
          const late = AbortSignal.timeout(timeoutMs)
          return post(message, AbortSignal.any([interrupted, late])).catch((error: unknown) => {
            if (late.aborted) throw new DOMException("late", "TimeoutError")
            throw error
          })
        },
        catch: (error) =>
          error instanceof DOMException && error.name === "TimeoutError"
            ? `No answer within ${Duration.toSeconds(timeout)} seconds`
            : reasonOf(error instanceof AddressRefused ? error : ((error as { cause?: unknown }).cause ?? error))
      }).pipe(Effect.catch((problem) => Effect.succeed<DeliveryAnswer>({ status: null, problem })))
    })

    return WebhookSender.of({ refusalOf: (url) => refusalOf(url, targets), send })
  })
)
