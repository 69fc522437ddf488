import { Effect, Layer, Redacted } from "effect"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"

export const AdminAuthLive = Layer.effect(
  AdminAuth,
  Effect.map(OperatorToken, (operator) =>
    AdminAuth.of({
      adminToken: (httpEffect, { credential }) =>
        Effect.andThen(operator.require(Redacted.value(credential) || undefined), httpEffect)
    })
  )
)
