/**
 * The columns of labels, which strategies and portfolios have alike. A transaction that writes an external id holds it
 * until its end, so of two that write the same one the later sees the earlier.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { TenantId } from "#domain/values/Ids.ts"
import {
  type LabelledId,
  type Labels,
  type LabelsFilter,
  type LabelsPatch,
  type LabelsRefusal,
  merged
} from "#domain/values/Labels.ts"
import { storableJson } from "#layers/sql/storable.ts"

export const LabelColumns = {
  externalId: Schema.NullOr(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.String)
}

/** What a query selects to read them, as rows of `LabelColumns`. */
export const selectLabels = (table: string) => `${table}.external_id AS "externalId", ${table}.metadata`

/** The labels of a row that has any. */
export const labelsOfRow = (row: {
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, string>>
}): Labels => ({
  ...(row.externalId === null ? {} : { externalId: row.externalId }),
  ...(Object.keys(row.metadata).length === 0 ? {} : { metadata: row.metadata })
})

/** Strategies or portfolios. */
export interface Labelled {
  readonly table: "strategies" | "portfolios"
  readonly id: "strategy_id" | "portfolio_id"
  readonly entries: "strategy_metadata" | "portfolio_metadata"
  /** Those among which an external id is used once. */
  readonly among: string
}

export const strategies: Labelled = {
  table: "strategies",
  id: "strategy_id",
  entries: "strategy_metadata",
  among: "true"
}

export const portfolios: Labelled = {
  table: "portfolios",
  id: "portfolio_id",
  entries: "portfolio_metadata",
  among: "archived_at IS NULL"
}

/** Part of the caller's transaction: fails when another one of the tenant has the external id. */
const holdExternalId = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { among, id, table }: Labelled,
  { externalId, own, tenantId }: { readonly tenantId: TenantId; readonly own: LabelledId; readonly externalId: string }
) {
  yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${table} ${tenantId} ${externalId}`}, 0))`
  const [used] = yield* sql<{ readonly by: LabelledId }>`
    SELECT ${sql.literal(id)} AS by FROM ${sql.literal(table)}
    WHERE tenant_id = ${tenantId} AND external_id = ${externalId} AND ${sql.literal(among)}
      AND ${sql.literal(id)} <> ${own}`
  if (used !== undefined) return yield* Effect.fail<LabelsRefusal>({ _tag: "ExternalIdUsed", externalId, by: used.by })
})

/** The columns of something new, once its external id is held. */
export const newLabels = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  labelled: Labelled,
  { externalId, metadata, own, tenantId }: Labels & { readonly tenantId: TenantId; readonly own: LabelledId }
) {
  if (externalId !== undefined) yield* holdExternalId(sql, labelled, { tenantId, own, externalId })
  return { external_id: externalId ?? null, metadata: storableJson(metadata ?? {}) }
})

/** The columns that a patch changes. The row is locked, so that of two patches none loses a pair. */
export const patchedLabels = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  labelled: Labelled,
  { externalId, metadata, own, tenantId }: LabelsPatch & { readonly tenantId: TenantId; readonly own: LabelledId }
) {
  if (externalId === undefined && metadata === undefined) return {}
  const { id, table } = labelled
  const [row] = yield* sql<{ readonly metadata: Readonly<Record<string, string>> }>`
    SELECT metadata FROM ${sql.literal(table)}
    WHERE ${sql.literal(id)} = ${own} AND tenant_id = ${tenantId} FOR NO KEY UPDATE`
  if (row === undefined) return {}
  if (typeof externalId === "string") yield* holdExternalId(sql, labelled, { tenantId, own, externalId })
  const all = metadata === undefined ? row.metadata : merged(row.metadata, metadata)
  if (all === undefined) return yield* Effect.fail<LabelsRefusal>({ _tag: "TooManyKeys" })
  return {
    ...(externalId === undefined ? {} : { external_id: externalId }),
    ...(metadata === undefined ? {} : { metadata: storableJson(all) })
  }
})

/**
 * How a list is narrowed: a join, and conditions. A page by a pair is a walk of its entries, which have the order of
 * the list; `pair` is what it is ordered by then.
 */
export const labelsCondition = (
  sql: SqlClient.SqlClient,
  { entries, id }: Labelled,
  { alias, externalId, metadata, tenantId }: LabelsFilter & { readonly tenantId: TenantId; readonly alias: string }
) => ({
  join: metadata === undefined ? sql`` : sql.literal(`JOIN ${entries} pair ON pair.${id} = ${alias}.${id}`),
  conditions: [
    ...(externalId === undefined ? [] : [sql`${sql.literal(alias)}.external_id = ${externalId}`]),
    ...(metadata === undefined
      ? []
      : [sql`pair.tenant_id = ${tenantId}`, sql`pair.key = ${metadata.key}`, sql`pair.value = ${metadata.value}`])
  ]
})
