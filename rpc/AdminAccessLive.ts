import { Effect, Layer } from "effect"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { AdminAccess } from "#rpc/AdminAccess.ts"

const bearer = /^bearer (.*)$/iu

export const AdminAccessLive = Layer.effect(
  AdminAccess,
  Effect.map(OperatorToken, (operator) =>
    AdminAccess.of((handled, { headers }) =>
      Effect.andThen(operator.require(bearer.exec(headers["authorization"] ?? "")?.[1]), handled)
    )
  )
)
