/** Whether a key may do what a call requires, on every wire. */
import { Effect } from "effect"
import { PermissionDenied } from "#domain/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import type { Scope } from "#domain/Scopes.ts"

/** Succeeds where the key has the scope, and where none is required. */
export const requireScope = (
  { apiKeyId, scopes }: Pick<Caller["Service"], "apiKeyId" | "scopes">,
  scope: Scope | undefined
): Effect.Effect<void, PermissionDenied> =>
  scope === undefined || scopes.has(scope)
    ? Effect.void
    : Effect.fail(new PermissionDenied({ message: `The key ${apiKeyId} lacks the scope ${scope} that this requires` }))
