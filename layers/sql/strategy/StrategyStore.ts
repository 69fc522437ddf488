/** Strategies and their versions in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "#domain/values/Cursor.ts"
import { StrategyId, TenantId } from "#domain/values/Ids.ts"
import { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import { StrategyTriggers } from "#domain/mandate/StrategyTriggers.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import {
  type NewStrategy,
  type NewVersion,
  type OwnStrategy,
  type StrategyFilter,
  type StrategyPatch,
  StrategyStore,
  type VersionRequest
} from "#domain/strategy/StrategyStore.ts"
import {
  AllocationColumn,
  encodeAllocation,
  swapPreferencesOf,
  SwapPreferencesColumns,
  Wad
} from "#layers/sql/allocationColumns.ts"
import { PolicyColumn, policyColumnOf, policyOf } from "#layers/sql/policyColumn.ts"
import {
  LabelColumns,
  labelsCondition,
  labelsOfRow,
  newLabels,
  patchedLabels,
  selectLabels,
  strategies
} from "#layers/sql/labelColumns.ts"
import { makeConfigureStrategy } from "#layers/sql/strategy/configureStrategy.ts"
import { makeArchive } from "#layers/sql/strategy/archive.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"
import { isEmpty, swapColumnsOf } from "#layers/sql/swapColumns.ts"

const StrategyRow = Schema.Struct({
  strategyId: StrategyId,
  tenantId: TenantId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  allocation: AllocationColumn,
  frequency: Frequency,
  ...SwapPreferencesColumns,
  rebalancePolicy: PolicyColumn,
  triggers: Schema.NullOr(StrategyTriggers),
  isPublic: Schema.Boolean,
  canMirror: Schema.Boolean,
  maxApy: Schema.NullOr(Wad),
  version: Schema.Int,
  createdAt: Timestamp,
  archivedAt: Schema.NullOr(Timestamp),
  ...LabelColumns
})

const toStrategy = (row: typeof StrategyRow.Type): Strategy => ({
  strategyId: row.strategyId,
  tenantId: row.tenantId,
  name: row.name,
  description: row.description,
  allocation: row.allocation,
  schedule: { type: "interval", frequency: row.frequency },
  swap: swapPreferencesOf(row),
  ...policyOf(row),
  ...(row.triggers === null ? {} : { triggers: row.triggers }),
  isPublic: row.isPublic,
  canMirror: row.canMirror,
  maxApy: row.maxApy,
  version: row.version,
  createdAt: row.createdAt,
  ...(row.archivedAt === null ? {} : { archivedAt: row.archivedAt }),
  ...labelsOfRow(row)
})

const encodeTriggers = Schema.encodeSync(Schema.toCodecJson(StrategyTriggers))

/** The column to write for triggers that are given, or null to clear them. */
const triggersColumnOf = (triggers: StrategyTriggers | null | undefined) =>
  triggers === undefined ? {} : { triggers: triggers === null ? null : storableJson(encodeTriggers(triggers)) }

const VersionRow = Schema.Struct({
  version: Schema.Int,
  allocation: AllocationColumn,
  changeLog: Schema.NullOr(Schema.String),
  isHead: Schema.Boolean,
  createdAt: Timestamp
})

const firstStrategy = decodeFirst(StrategyRow)
const allStrategies = decodeRows(StrategyRow)
const allVersions = decodeRows(VersionRow)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const selectStrategies = sql.literal(`
    SELECT s.strategy_id AS "strategyId", s.tenant_id AS "tenantId", s.name, s.description, v.allocation, s.frequency,
      s.slippage_bps AS "slippageBps", s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd",
      s.rebalance_policy AS "rebalancePolicy", s.triggers,
      s.is_public AS "isPublic", s.can_mirror AS "canMirror", s.max_apy AS "maxApy", s.head_version AS version,
      s.created_at AS "createdAt", s.archived_at AS "archivedAt", ${selectLabels("s")}
    FROM strategies s
    JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version`)

  const insertVersion = ({ allocation, changeLog, createdAt, strategyId }: NewVersion, version: number) =>
    sql`
      INSERT INTO strategy_versions (strategy_id, version, allocation, change_log, created_at)
      VALUES (${strategyId}, ${version}, ${encodeAllocation(allocation)}::jsonb, ${changeLog},
        ${timestamp(createdAt)})`

  const insert = Effect.fn("StrategyStore.insert")(
    function* (strategy: NewStrategy) {
      yield* sql`INSERT INTO strategies ${sql.insert({
        strategy_id: strategy.strategyId,
        tenant_id: strategy.tenantId,
        name: strategy.name,
        description: strategy.description,
        frequency: strategy.schedule.frequency,
        ...swapColumnsOf(strategy.swap),
        ...policyColumnOf(strategy.rebalancePolicy),
        ...triggersColumnOf(strategy.triggers),
        is_public: strategy.isPublic,
        head_version: strategy.version,
        created_at: timestamp(strategy.createdAt),
        ...(yield* newLabels(sql, strategies, { ...strategy, own: strategy.strategyId }))
      })}`
      yield* insertVersion({ ...strategy, changeLog: null }, strategy.version)
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

  const find = Effect.fn("StrategyStore.find")((strategyId: StrategyId) =>
    Effect.map(firstStrategy(sql`${selectStrategies} WHERE s.strategy_id = ${strategyId}`), Option.map(toStrategy))
  )

  // Each order has an index that yields the page without sorting; by a pair of metadata it is that of its entries.
  const list = Effect.fn("StrategyStore.list")((
    tenantId: TenantId,
    { archived = "exclude", ...labels }: StrategyFilter,
    { after, limit }: PageRequest
  ) => {
    const narrowed = labelsCondition(sql, strategies, { ...labels, tenantId, alias: "s" })
    const by = labels.metadata === undefined ? "s" : "pair"
    const conditions = [sql`s.tenant_id = ${tenantId}`, ...narrowed.conditions]
    if (archived === "exclude") conditions.push(sql`s.archived_at IS NULL`)
    if (archived === "only") conditions.push(sql`s.archived_at IS NOT NULL`)
    if (after !== null)
      conditions.push(
        sql`(${sql.literal(`${by}.created_at, ${by}.strategy_id`)}) < (${timestamp(after.createdAt)}, ${after.id})`
      )
    const rows = allStrategies(sql`
      ${selectStrategies} ${narrowed.join} WHERE ${sql.and(conditions)}
      ORDER BY ${sql.literal(`${by}.created_at DESC, ${by}.strategy_id DESC`)} LIMIT ${limit + 1}`)
    return Effect.map(rows, (found) => found.map(toStrategy))
  })

  // Read by a statement of its own: one that waited for a publication would not see that publication's version.
  const update = Effect.fn("StrategyStore.update")(
    function* ({ strategyId, tenantId }: OwnStrategy, patch: StrategyPatch) {
      const { description, isPublic, name, triggers } = patch
      const columns = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(isPublic === undefined ? {} : { is_public: isPublic }),
        ...triggersColumnOf(triggers),
        ...(yield* patchedLabels(sql, strategies, { ...patch, tenantId, own: strategyId }))
      }
      if (!isEmpty(columns)) {
        yield* sql`
          UPDATE strategies SET ${sql.update(columns)} WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}`
      }
      const found = yield* firstStrategy(
        sql`${selectStrategies} WHERE s.strategy_id = ${strategyId} AND s.tenant_id = ${tenantId}`
      )
      return Option.map(found, toStrategy)
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

  const publish = Effect.fn("StrategyStore.publish")(
    function* (version: NewVersion) {
      const [head] = yield* sql<{ readonly head_version: number }>`
      UPDATE strategies SET head_version = head_version + 1
      WHERE strategy_id = ${version.strategyId} RETURNING head_version`
      if (head === undefined)
        return yield* Effect.die(
          new Error(`Strategy ${version.strategyId} does not exist: no version can be published`)
        )
      yield* insertVersion(version, head.head_version)
      return head.head_version
    },
    sql.withTransaction,
    Effect.orDie
  )

  const versions = Effect.fn("StrategyStore.versions")((strategyId: StrategyId, { before, limit }: VersionRequest) => {
    const conditions = [sql`v.strategy_id = ${strategyId}`]
    if (before !== null) conditions.push(sql`v.version < ${before}`)
    return allVersions(sql`
      SELECT v.version, v.allocation, v.change_log AS "changeLog", v.version = s.head_version AS "isHead",
        v.created_at AS "createdAt"
      FROM strategy_versions v JOIN strategies s ON s.strategy_id = v.strategy_id
      WHERE ${sql.and(conditions)}
      ORDER BY v.version DESC LIMIT ${limit + 1}`)
  })

  const { remove, unarchive } = makeArchive(sql)

  const restore = Effect.fn("StrategyStore.restore")((own: OwnStrategy, at: DateTime.Utc) =>
    Effect.flatMap(unarchive(own, at), (isOwn) => (isOwn ? find(own.strategyId) : Effect.succeedNone))
  )

  return StrategyStore.of({
    insert,
    find,
    list,
    update,
    publish,
    versions,
    remove,
    restore,
    ...(yield* makeConfigureStrategy(sql))
  })
})

export const layer = Layer.effect(StrategyStore, make)
