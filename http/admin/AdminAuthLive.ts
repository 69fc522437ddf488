import { Effect, Layer, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { KeyInvalid, KeyMissing } from "#domain/Errors.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { AdminSettings } from "#http/admin/AdminSettings.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

export const AdminAuthLive = Layer.effect(
  AdminAuth,
  Effect.map(AdminSettings, ({ token }) => {
    const expected = bytesOf(Redacted.value(token))

    return AdminAuth.of({
      adminToken: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const presented = Redacted.value(credential)
        if (presented === "")
          return yield* new KeyMissing({ message: "Send the admin token as Authorization: Bearer <token>" })
        // In constant time, so that the time of a refusal says nothing about how much of a guess was right.
        if (!Mac.timingSafeEqual(bytesOf(presented), expected))
          return yield* new KeyInvalid({ message: "The admin token is not valid" })
        return yield* httpEffect
      })
    })
  })
)
