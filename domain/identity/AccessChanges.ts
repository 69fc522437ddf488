/**
 * Reports to this process at once whose access changed here: keys that are kept in memory are forgotten, and open
 * streams are judged again. Other processes learn of it when they read again by themselves.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import type { TenantId } from "#domain/values/Ids.ts"

/**
 * Reports to this process whose access changed here.
 *
 * **When to use**
 *
 * Use `changed` where a key, a session, a membership or a tenant ends or changes, and `onChange` where an earlier
 * decision about access is kept.
 */
export class AccessChanges extends Context.Service<
  AccessChanges,
  {
    /** Announces a change of the access of a tenant's keys or people. Callers run it after the commit. */
    readonly changed: (tenantId: TenantId) => Effect.Effect<void>
    /** Calls back with each tenant whose access changed, until the scope closes. */
    readonly onChange: (callback: (tenantId: TenantId) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("ballast/domain/identity/AccessChanges") {
  static readonly layer = Layer.sync(AccessChanges, () => {
    const callbacks = new Set<(tenantId: TenantId) => void>()

    return AccessChanges.of({
      changed: (tenantId) =>
        Effect.sync(() => {
          for (const callback of callbacks) callback(tenantId)
        }),
      onChange: (callback) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => callbacks.add(callback)),
            () => Effect.sync(() => callbacks.delete(callback))
          )
        )
    })
  })
}
