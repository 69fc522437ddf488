/** Endpoint annotation: the one scope that a key needs for the route; `undefined` when any valid key will do. */
import { Context } from "effect"
import type { Scope } from "#domain/values/Scopes.ts"

export const RequiredScope = Context.Reference<Scope | undefined>("ballast/http/RequiredScope", {
  defaultValue: () => undefined
})
