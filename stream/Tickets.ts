/**
 * Tokens that open topics for a while: `<key id>.<claims>.<HMAC-SHA-256 of both>`, the parts in base64url.
 *
 * Every worker that has the keys checks a token by itself. A tag is compared in constant time; a key id that is not
 * known costs the same work as one that is.
 */
import { Clock, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Mac } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import type { StreamRefusal } from "#domain/stream/SocketGate.ts"
import { type TopicGrant, TicketClaims } from "#domain/stream/Ticket.ts"
import { TicketKeys } from "#domain/stream/TicketKeys.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { tokenExpired, tokenInvalid } from "#stream/refusals.ts"

/** A token of the most grants and symbols is shorter. */
const longestToken = 8_192
const bytesOf = (text: string) => new TextEncoder().encode(text)
const Claims = Schema.fromJsonString(TicketClaims)

export class Tickets extends Context.Service<
  Tickets,
  {
    readonly issue: (grants: ReadonlyArray<TopicGrant>) => Effect.Effect<string>
    readonly open: (token: string) => Effect.Effect<TicketClaims, StreamRefusal>
  }
>()("ballast/stream/Tickets") {
  static readonly layer = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const mac = yield* Mac.Mac
      const { ticketLifeSeconds } = yield* WorkerSettings
      const keys = yield* Effect.forEach(yield* TicketKeys, ({ id, secret }) =>
        Effect.map(Mac.key(Mac.hmacSha256, bytesOf(Redacted.value(secret))), (key) => ({ id, key }))
      )
      const [signing] = keys as [(typeof keys)[number]]
      const seconds = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 1000))

      const issue = Effect.fnUntraced(function* (grants: ReadonlyArray<TopicGrant>) {
        const issuedAt = yield* seconds
        const claims = yield* Schema.encodeEffect(Claims)({ grants, issuedAt, expiresAt: issuedAt + ticketLifeSeconds })
        const signed = `${signing.id}.${Base64Url.encode(claims)}`
        const tag = yield* mac.sign(signing.key, bytesOf(signed))
        return `${signed}.${Base64Url.encode(tag)}`
      }, Effect.orDie)

      const open = Effect.fnUntraced(function* (token: string) {
        const [id, claims, tag, ...rest] = token.length > longestToken ? [] : token.split(".")
        if (tag === undefined || claims === undefined || rest.length > 0) return yield* tokenInvalid
        const known = keys.find((key) => key.id === id)
        const presented = Result.getOrElse(Base64Url.decode(tag), () => new Uint8Array(0))
        const isGenuine = yield* Effect.orDie(mac.verify((known ?? signing).key, presented, bytesOf(`${id}.${claims}`)))
        if (known === undefined || !isGenuine) return yield* tokenInvalid
        const decoded = Result.getSuccess(Base64Url.decodeString(claims)).pipe(
          Option.flatMap(Schema.decodeOption(Claims))
        )
        if (Option.isNone(decoded)) return yield* tokenInvalid
        if (decoded.value.expiresAt <= (yield* seconds)) return yield* tokenExpired
        return decoded.value
      })

      return Tickets.of({ issue, open })
    })
  )
}
