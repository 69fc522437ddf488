/** A tenant's defaults as v2 shows them. Source: shapes 2.12 and T. */
import type { TenantPreferences } from "#domain/tenant/TenantPreferences.ts"
import { preferencesView } from "#http/v2/strategy/swapView.ts"

export const tenantPreferencesView = ({
  origins,
  ownerActions,
  permissionTerms,
  rebalancePolicy,
  schedule,
  swap
}: TenantPreferences) => ({
  ...preferencesView(swap, rebalancePolicy),
  schedule,
  ...(permissionTerms === undefined ? {} : { permissionTerms }),
  ...(origins === undefined ? {} : { origins }),
  ...(ownerActions === undefined ? {} : { ownerActions })
})
