/** Whether a key may do what a call requires, on every wire. */
import { Effect } from "effect"
import { PermissionDenied } from "#domain/errors/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import type { Scope } from "#domain/values/Scopes.ts"

type Held = Pick<Caller["Service"], "apiKeyId" | "scopes">

/** Undefined where the key has the scope, and where none is required; pure. */
export const refusalOfScope = ({ apiKeyId, scopes }: Held, scope: Scope | undefined): PermissionDenied | undefined =>
  scope === undefined || scopes.has(scope)
    ? undefined
    : new PermissionDenied({ message: `The key ${apiKeyId} lacks the scope ${scope} that this requires` })

/** Succeeds where the key has the scope, and where none is required. */
export const requireScope = (held: Held, scope: Scope | undefined): Effect.Effect<void, PermissionDenied> => {
  const refusal = refusalOfScope(held, scope)
  return refusal === undefined ? Effect.void : Effect.fail(refusal)
}
