import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TenantConfiguration } from "#domain/tenant/TenantConfiguration.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { tenantPreferencesView } from "#http/v2/tenant/tenantPreferencesView.ts"

export const TenantLive = HttpApiBuilder.group(
  V2,
  "tenant",
  Effect.fnUntraced(function* (handlers) {
    const configuration = yield* TenantConfiguration

    return handlers.handleAll({
      getTenantPreferences: () =>
        Effect.map(configuration.preferences, (preferences) => success(tenantPreferencesView(preferences))),
      updateTenantPreferences: ({ payload }) =>
        Effect.map(configuration.patchPreferences(payload), (preferences) =>
          success(tenantPreferencesView(preferences))
        ),
      getTenantFees: () => Effect.map(configuration.fee, success),
      updateTenantFees: ({ payload }) => Effect.map(configuration.patchFee(payload), success)
    })
  })
).pipe(buildGroup(TenantConfiguration))
