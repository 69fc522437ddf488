/** What is sent to a receiver, what counts as an answer, and to whom nothing is sent whatever a name resolves to. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import type { DeliveryId } from "#domain/values/Ids.ts"
import { type Message, WebhookSender } from "#domain/webhook/WebhookSender.ts"
import type { Resolve } from "#layers/webhook/guardedConnector.ts"
import type { Targets } from "#layers/webhook/targetRules.ts"
import { WebhookConfig } from "#layers/webhook/WebhookConfig.ts"
import { WebhookSenderLive, WebhookWire } from "#layers/webhook/WebhookSenderLive.ts"
import { receiver, status } from "#test/support/Receiver.ts"

const secret = (fill: number) => new Uint8Array(32).fill(fill)
const textOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`

const message = (url: string, also: Partial<Message> = {}): Message => ({
  url,
  deliveryId: "whd_01JQ8ZR8B0D2F4H6J8K0M2N4P6" as DeliveryId,
  timestamp: Math.floor(Date.now() / 1000),
  body: '{"type":"operation.state_changed","data":{"text":"äöü"}}',
  secrets: [Redacted.make(secret(1))],
  ...also
})

interface Wire {
  readonly targets?: Targets
  readonly resolve?: Resolve
  readonly timeoutMs?: number
}

const answering =
  (...addresses: ReadonlyArray<string>): Resolve =>
  (_, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    )

const sending = ({ resolve = answering("127.0.0.1"), targets = "loopback", timeoutMs = 5_000 }: Wire = {}) =>
  WebhookSenderLive.pipe(
    Layer.provide(Layer.succeed(WebhookConfig, { targets })),
    Layer.provide(
      Layer.succeed(WebhookWire, { resolve, timeout: Duration.millis(timeoutMs), bodyTimeout: Duration.millis(100) })
    )
  )

const send = (one: Message) => Effect.flatMap(WebhookSender, (sender) => sender.send(one))

describe("a message", () => {
  it.live("is what an independent verifier of Standard Webhooks takes, by each of its secrets and by no other", () =>
    Effect.gen(function* () {
      const server = yield* receiver()
      const secrets = [secret(1), secret(2)]
      const sent = message(server.url, { secrets: secrets.map((bytes) => Redacted.make(bytes)) })
      assert.deepStrictEqual(yield* send(sent), { status: 200, problem: null })
      const [{ body, headers }] = server.received as [(typeof server.received)[number]]
      assert.strictEqual(body, sent.body)
      assert.strictEqual(headers["content-type"], "application/json")
      for (const bytes of secrets)
        assert.deepStrictEqual(new Webhook(textOf(bytes)).verify(body, headers), JSON.parse(body))
      assert.throws(() => new Webhook(textOf(secret(3))).verify(body, headers))
      assert.throws(() => new Webhook(textOf(secret(1))).verify(body.replace("ä", "a"), headers))
      const other = { ...headers, "webhook-id": "whd_01JQ8ZR8B0D2F4H6J8K0M2N4P7" }
      assert.throws(() => new Webhook(textOf(secret(1))).verify(body, other))
      const late = { ...headers, "webhook-timestamp": String(sent.timestamp + 1) }
      assert.throws(() => new Webhook(textOf(secret(1))).verify(body, late))
    }).pipe(Effect.scoped, Effect.provide(sending()))
  )

  it.live("is accepted by every 2xx and refused by any other status, with a sentence that names it", () =>
    Effect.gen(function* () {
      const server = yield* receiver()
      for (const code of [200, 201, 202, 204]) {
        server.answer = status(code)
        assert.deepStrictEqual(yield* send(message(server.url)), { status: code, problem: null })
      }
      for (const code of [400, 401, 404, 410, 429, 500, 503]) {
        server.answer = status(code)
        assert.deepStrictEqual(yield* send(message(server.url)), {
          status: code,
          problem: `The receiver answered ${code}`
        })
      }
    }).pipe(Effect.scoped, Effect.provide(sending()))
  )

  it.live("answers how many seconds the receiver asks to wait, where it refuses", () =>
    Effect.gen(function* () {
      const server = yield* receiver()
      const asked = Effect.fnUntraced(function* (code: number, header: string) {
        server.answer = (_, response) => void response.writeHead(code, { "retry-after": header }).end()
        return (yield* send(message(server.url))).retryAfterSeconds
      })
      assert.strictEqual(yield* asked(429, "120"), 120)
      assert.strictEqual(yield* asked(503, "0"), 0)
      assert.isUndefined(yield* asked(200, "120"))
      for (const other of ["-1", "1.5", "99999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "x"])
        assert.isUndefined(yield* asked(503, other))
    }).pipe(Effect.scoped, Effect.provide(sending()))
  )

  it.live("is not included on by a redirect, neither to the machine itself nor anywhere", () =>
    Effect.gen(function* () {
      const inner = yield* receiver()
      const server = yield* receiver()
      for (const code of [301, 302, 303, 307, 308]) {
        server.answer = (_, response) => void response.writeHead(code, { location: inner.url }).end()
        assert.deepStrictEqual(yield* send(message(server.url)), {
          status: code,
          problem: `The receiver answered ${code}; redirects are not followed`
        })
      }
      assert.strictEqual(inner.connections(), 0)
    }).pipe(Effect.scoped, Effect.provide(sending()))
  )

  it.live("is not accepted without the head of an answer in time", () =>
    Effect.gen(function* () {
      const server = yield* receiver(() => {})
      assert.deepStrictEqual(yield* send(message(server.url)), {
        status: null,
        problem: "No answer within 0.3 seconds"
      })
      server.answer = (_, response) => void response.socket?.write("HTTP/1.1 200 OK\r\nx-slow: ")
      assert.deepStrictEqual(yield* send(message(server.url)), {
        status: null,
        problem: "No answer within 0.3 seconds"
      })
    }).pipe(Effect.scoped, Effect.provide(sending({ timeoutMs: 300 })))
  )

  it.live("is accepted by the head alone: a body that drips or never ends holds nothing up and is not kept", () =>
    Effect.gen(function* () {
      const server = yield* receiver()
      let written = 0
      server.answer = (_, response) => {
        response.writeHead(200)
        const chunk = Buffer.alloc(65_536, 97)
        const more = () => {
          while (!response.destroyed && written < 1_000_000_000) {
            written += chunk.length
            if (!response.write(chunk)) return void response.once("drain", more)
          }
        }
        more()
      }
      assert.deepStrictEqual(yield* send(message(server.url)), { status: 200, problem: null })
      assert.isBelow(written, 50_000_000, "only what lay in the buffers")
      server.answer = (_, response) => {
        response.writeHead(200)
        response.write("a")
      }
      assert.deepStrictEqual(yield* send(message(server.url)), { status: 200, problem: null })
    }).pipe(Effect.scoped, Effect.provide(sending()))
  )

  it.live("reports why there was no connection in words that reveal nothing of the network", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(receiver())
      const answer = yield* send(message(gone.url))
      assert.deepStrictEqual(answer, { status: null, problem: "The connection was refused" })
      const plain = yield* receiver()
      const https = yield* send(message(plain.url.replace("http:", "https:")))
      assert.isNull(https.status)
      assert.match(https.problem ?? "", /^[A-Z][a-z' ]+$/u)
      const unknown: Resolve = (_, done) => done(Object.assign(new Error("x"), { code: "ENOTFOUND" }), [])
      const missing = yield* Effect.provide(
        send(message("https://hooks.example.com/")),
        Layer.fresh(sending({ resolve: unknown }))
      )
      assert.deepStrictEqual(missing, { status: null, problem: "The host's name does not resolve" })
    }).pipe(Effect.scoped, Effect.provide(sending()))
  )
})

describe("addresses that are no host of the internet", () => {
  const refused = { status: null, problem: "The host does not resolve to addresses of the internet alone" }

  it.live("are not connected to when a name resolves to one, alone or among others", () =>
    Effect.gen(function* () {
      const server = yield* receiver()
      const { port } = new URL(server.url)
      for (const addresses of [
        ["127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["64:ff9b::7f00:1"],
        ["93.184.216.34", "127.0.0.1"],
        []
      ]) {
        const wire = Layer.fresh(sending({ targets: "public", resolve: answering(...addresses) }))
        const answer = yield* Effect.provide(send(message("https://hooks.example.com/")), wire)
        assert.deepStrictEqual(answer, refused, addresses.join())
      }
      // Not by its port either: the rule of URLs comes before any name is resolved.
      const wire = Layer.fresh(sending({ targets: "public" }))
      const answer = yield* Effect.provide(send(message(`https://hooks.example.com:${port}/`)), wire)
      assert.match(answer.problem ?? "", /port/u)
      assert.strictEqual(server.connections(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("are not connected to when a name resolves to one a moment after it was judged", () =>
    Effect.gen(function* () {
      const server = yield* receiver((_, response) => void response.writeHead(200, { connection: "close" }).end())
      const url = server.url.replace("127.0.0.1", "localhost")
      let lookups = 0
      const rebinding: Resolve = (hostname, done) =>
        answering(lookups++ === 0 ? "127.0.0.1" : "10.0.0.1")(hostname, done)
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* send(message(url)), { status: 200, problem: null })
        assert.strictEqual(lookups, 1, "one lookup a connection: what was judged is what is connected to")
        assert.deepStrictEqual(yield* send(message(url)), refused)
      }).pipe(Effect.provide(Layer.fresh(sending({ resolve: rebinding }))))
      assert.lengthOf(server.received, 1)
    }).pipe(Effect.scoped)
  )

  it.live("are not connected to when the URL itself has one, which no name is looked up for", () =>
    Effect.gen(function* () {
      for (const host of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "2130706433"]) {
        const { problem, status: code } = yield* send(message(`https://${host}/`))
        assert.isNull(code)
        assert.match(problem ?? "", /^Not sent: expected an? (?:address|host) of the internet$/u)
      }
    }).pipe(Effect.provide(sending({ targets: "public" })))
  )
})
