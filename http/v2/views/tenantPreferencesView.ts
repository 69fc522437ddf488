/** A tenant's defaults as v2 shows them. Source: shapes 2.12 and T. */
import type { TenantPreferences } from "#domain/tenant/TenantPreferences.ts"
import { swapView } from "#http/v2/views/swapView.ts"

export const tenantPreferencesView = ({ schedule, swap }: TenantPreferences) => ({ swap: swapView(swap), schedule })
