/** Whether a caller is the operator: it presents the deployment's admin token. For REST routes and procedures alike. */
import { Context, Effect, Layer, Redacted } from "effect"
import { KeyInvalid, KeyMissing } from "#domain/errors/Errors.ts"
import { isSameSecret } from "#domain/identity/isSameSecret.ts"

/**
 * Whether a request is the operator's.
 *
 * **When to use**
 *
 * Use in middleware of admin routes and operator procedures.
 */
export class OperatorToken extends Context.Service<
  OperatorToken,
  {
    /** Succeeds for the operator alone; `undefined` when a request presents no token. */
    readonly require: (presented: string | undefined) => Effect.Effect<void, KeyMissing | KeyInvalid>
  }
>()("ballast/domain/identity/OperatorToken") {
  /** Layer from `ADMIN_TOKEN`. Null: there is no operator, and every call is refused. */
  static readonly layer = (token: Redacted.Redacted | null) =>
    Layer.sync(OperatorToken, () => {
      const expected = token === null ? null : Redacted.value(token)

      return OperatorToken.of({
        require: Effect.fnUntraced(function* (presented) {
          if (presented === undefined)
            return yield* new KeyMissing({ message: "Send the admin token as Authorization: Bearer <token>" })
          if (expected === null)
            return yield* new KeyInvalid({ message: "The admin routes are disabled: set ADMIN_TOKEN to enable them" })
          if (!isSameSecret(presented, expected))
            return yield* new KeyInvalid({ message: "The admin token is not valid" })
        })
      })
    })
}
