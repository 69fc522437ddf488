/** Defaults and fees of tenants in PostgreSQL. Each patch is one statement over its own columns. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TenantId } from "#domain/values/Ids.ts"
import { OwnerAction } from "#domain/mandate/OwnerAction.ts"
import { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { SwapFee } from "#domain/mandate/SwapFee.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { type TenantPreferences, type TenantPreferencesPatch, TenantTerms } from "#domain/tenant/TenantPreferences.ts"
import { swapPreferencesOf, SwapPreferencesColumns } from "#layers/sql/allocationColumns.ts"
import { shared } from "#domain/effects/batched.ts"
import { PolicyColumn, policyColumnOf, policyOf, selectPolicy } from "#layers/sql/policyColumn.ts"
import { decodeFirst, decodeRows } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"
import { isEmpty, selectSwap, swapColumnsOf } from "#layers/sql/swapColumns.ts"

const PreferencesRow = Schema.Struct({
  ...SwapPreferencesColumns,
  frequency: Schema.NullOr(Frequency),
  rebalancePolicy: PolicyColumn,
  permissionTerms: Schema.NullOr(TenantTerms),
  origins: Schema.NullOr(Schema.Array(Schema.String)),
  ownerActions: Schema.NullOr(Schema.Array(OwnerAction))
})

const toPreferences = (row: typeof PreferencesRow.Type): TenantPreferences => ({
  swap: swapPreferencesOf(row),
  schedule: row.frequency === null ? null : { type: "interval", frequency: row.frequency },
  ...policyOf(row),
  ...(row.permissionTerms === null ? {} : { permissionTerms: row.permissionTerms }),
  ...(row.origins === null ? {} : { origins: row.origins }),
  ...(row.ownerActions === null ? {} : { ownerActions: row.ownerActions })
})

const unset: TenantPreferences = {
  swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  schedule: null
}

const answered = `${selectSwap}, ${selectPolicy}, frequency, permission_terms AS "permissionTerms", origins,
  owner_actions AS "ownerActions"`

const firstPreferences = decodeFirst(PreferencesRow)
const namedOrigins = decodeRows(Schema.Struct({ tenantId: TenantId, origin: Schema.String }))
const firstFee = decodeFirst(Schema.Struct({ swapBps: Schema.NullOr(Schema.Int) }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const patch = (tenantId: TenantId, columns: Readonly<Record<string, unknown>>, answer: string) =>
    isEmpty(columns)
      ? sql<object>`SELECT ${sql.literal(answer)} FROM tenants WHERE tenant_id = ${tenantId}`
      : sql<object>`
          UPDATE tenants SET ${sql.update(columns)} WHERE tenant_id = ${tenantId} RETURNING ${sql.literal(answer)}`

  const patchPreferences = Effect.fn("TenantConfigurationStore.patchPreferences")((
    tenantId: TenantId,
    { origins, ownerActions, permissionTerms, rebalancePolicy, schedule, swap = {} }: TenantPreferencesPatch
  ) => {
    const columns = {
      ...swapColumnsOf(swap),
      ...policyColumnOf(rebalancePolicy),
      ...(origins === undefined ? {} : { origins: origins === null ? null : storableJson(origins) }),
      ...(ownerActions === undefined
        ? {}
        : { owner_actions: ownerActions === null ? null : storableJson(ownerActions) }),
      ...(permissionTerms === undefined
        ? {}
        : { permission_terms: permissionTerms === null ? null : storableJson(permissionTerms) }),
      ...(schedule === undefined ? {} : { frequency: schedule === null ? null : schedule.frequency })
    }
    return Effect.map(firstPreferences(patch(tenantId, columns, answered)), (row) =>
      Option.isNone(row) ? unset : toPreferences(row.value)
    )
  })

  const patchFee = Effect.fn("TenantConfigurationStore.patchFee")((
    tenantId: TenantId,
    { swapBps }: Partial<SwapFee>
  ) => {
    const columns = swapBps === undefined ? {} : { swap_fee_bps: swapBps }
    return Effect.map(
      firstFee(patch(tenantId, columns, `swap_fee_bps AS "swapBps"`)),
      Option.getOrElse(() => ({ swapBps: null }))
    )
  })

  return TenantConfigurationStore.of({
    // Runs that plan at the same moment share one read of their tenant's.
    preferences: yield* shared((tenantId: TenantId) => patchPreferences(tenantId, {})),
    patchPreferences,
    origins: namedOrigins(sql<object>`
      SELECT tenant_id AS "tenantId", jsonb_array_elements_text(origins) AS origin
      FROM tenants WHERE origins IS NOT NULL AND disabled_at IS NULL`),
    fee: (tenantId) => patchFee(tenantId, {}),
    patchFee
  })
})

export const layer = Layer.effect(TenantConfigurationStore, make)
