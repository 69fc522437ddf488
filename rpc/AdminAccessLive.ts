import { Effect, Layer } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { bearerIn } from "#domain/identity/access/presented.ts"
import { AdminAccess } from "#rpc/AdminAccess.ts"

export const AdminAccessLive = Layer.effect(
  AdminAccess,
  Effect.map(OperatorToken, (operator) =>
    AdminAccess.of((handled, { headers }) => Effect.andThen(operator.require(bearerIn(headers)), handled))
  )
).pipe(buildWith(OperatorToken))
