/**
 * Origins of tenants' pages, as of at most ten seconds ago. Browsers request them before they send a request, when its
 * key is not known yet, so they are in memory.
 */
import { Context, Duration, Effect, Layer } from "effect"
import type { TenantId } from "#domain/values/Ids.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"

/**
 * Origins of tenants' pages.
 *
 * **When to use**
 *
 * Use in middleware that answers browsers across origins.
 */
export class TenantOrigins extends Context.Service<
  TenantOrigins,
  {
    /** Whether any tenant names it. */
    readonly isNamed: (origin: string) => boolean
    readonly isNamedBy: (tenantId: TenantId, origin: string) => boolean
  }
>()("ballast/domain/tenant/TenantOrigins") {
  static readonly layerEvery = (interval: Duration.Duration) =>
    Layer.effect(
      TenantOrigins,
      Effect.gen(function* () {
        const store = yield* TenantConfigurationStore
        let tenantsOf: ReadonlyMap<string, ReadonlySet<TenantId>> = new Map()
        const refresh = Effect.map(store.origins, (named) => {
          tenantsOf = new Map(
            [...Map.groupBy(named, ({ origin }) => origin)].map(([origin, rows]) => [
              origin,
              new Set(rows.map(({ tenantId }) => tenantId))
            ])
          )
        })
        yield* keepGoingEvery(refresh, {
          complaint: "The origins of tenants' pages could not be read",
          interval
        })
        return TenantOrigins.of({
          isNamed: (origin) => tenantsOf.has(origin),
          isNamedBy: (tenantId, origin) => tenantsOf.get(origin)?.has(tenantId) === true
        })
      })
    )

  static readonly layer = TenantOrigins.layerEvery(Duration.seconds(10))
}
