/** Portfolios and their schedules in PostgreSQL. */
import { DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { ScheduleStatus } from "#domain/portfolio/Portfolio.ts"
import { type PortfolioChange, type PortfolioFilter, PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { labelsCondition, patchedLabels, portfolios } from "#layers/sql/labelColumns.ts"
import {
  type DetailRow,
  type PortfolioRow,
  selectDetail,
  selectPortfolios,
  toDetail,
  toPortfolio
} from "#layers/sql/portfolio/portfolioRows.ts"
import { timestamp } from "#layers/sql/rows.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const select = sql.literal(selectPortfolios)

  // The busiest read: a constant text with parameters spares the assembly of a statement, and the statement's own span
  // is all that there is to see of it, so it goes without a second one.
  const findOne = `${selectDetail} WHERE p.portfolio_id = $1 AND p.tenant_id = $2`

  const find = (tenantId: TenantId, portfolioId: PortfolioId) =>
    sql.unsafe<DetailRow>(findOne, [portfolioId, tenantId]).pipe(
      Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), toDetail)),
      Effect.orDie
    )

  const list = Effect.fn("PortfolioStore.list")(function* (
    tenantId: TenantId,
    filter: PortfolioFilter,
    { after, limit }: PageRequest
  ) {
    // Each order has an index that yields the page without sorting; with a status it is that of the schedules,
    // with a pair of metadata that of its entries.
    const [tenant, createdAt, id] =
      filter.metadata !== undefined
        ? ["pair.tenant_id", "pair.created_at", "pair.portfolio_id"]
        : filter.status === undefined
          ? ["p.tenant_id", "p.created_at", "p.portfolio_id"]
          : ["c.tenant_id", "c.portfolio_created_at", "c.portfolio_id"]
    const narrowed = labelsCondition(sql, portfolios, { ...filter, tenantId, alias: "p" })
    const key = sql.literal(`${createdAt}, ${id}`)
    const conditions = [sql`p.archived_at IS NULL`, sql`${sql.literal(tenant!)} = ${tenantId}`, ...narrowed.conditions]
    if (filter.status !== undefined) conditions.push(sql`c.status = ${filter.status}`)
    if (filter.ownerAccountId !== undefined) conditions.push(sql`p.owner_account_id = ${filter.ownerAccountId}`)
    if (filter.strategyId !== undefined) conditions.push(sql`p.strategy_id = ${filter.strategyId}`)
    if (filter.permission === "guard") conditions.push(sql`p.account_ids <@ p.guarded_account_ids`)
    if (filter.permission === "call_policy") conditions.push(sql`NOT (p.account_ids <@ p.guarded_account_ids)`)
    if (after !== null) conditions.push(sql`(${key}) < (${timestamp(after.createdAt)}, ${after.id})`)
    const rows = yield* sql<PortfolioRow>`
      ${select} ${narrowed.join} WHERE ${sql.and(conditions)}
      ORDER BY ${sql.literal(`${createdAt} DESC, ${id} DESC`)} LIMIT ${limit + 1}`
    return rows.map(toPortfolio)
  }, Effect.orDie)

  const update = Effect.fn("PortfolioStore.update")(
    function* ({ at, patch, portfolioId, tenantId }: PortfolioChange) {
      const columns = {
        ...(patch.name === undefined ? {} : { name: patch.name }),
        ...(yield* patchedLabels(sql, portfolios, { ...patch, tenantId, own: portfolioId })),
        updated_at: timestamp(at)
      }
      yield* sql`
      UPDATE portfolios SET ${sql.update(columns)}
      WHERE portfolio_id = ${portfolioId} AND tenant_id = ${tenantId} AND archived_at IS NULL`
      return yield* find(tenantId, portfolioId)
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

  /**
   * Moves the schedule to `status` unless it is there already, or its owner revoked the agent's permission. Its row
   * stays locked until the answer is read, so each of several racing calls returns the state that it saw or made. The
   * next check counts as the first one, which becomes a run.
   */
  const setStatus = Effect.fnUntraced(
    function* (
      tenantId: TenantId,
      portfolioId: PortfolioId,
      change: {
        readonly status: ScheduleStatus
        readonly dueAt: DateTime.Utc | null
        readonly at: DateTime.Utc
        readonly note: string | null
      }
    ) {
      const [schedule] = yield* sql<{ readonly status: string; readonly isRevoked: boolean }>`
      SELECT c.status, p.revoked_at IS NOT NULL AS "isRevoked" FROM portfolios p JOIN schedules c USING (portfolio_id)
      WHERE p.portfolio_id = ${portfolioId} AND p.tenant_id = ${tenantId} FOR NO KEY UPDATE OF p FOR UPDATE OF c`
      const isHeld = schedule?.isRevoked === true && change.status === "active"
      if (schedule !== undefined && schedule.status !== change.status && !isHeld) {
        const dueAt = change.dueAt === null ? null : timestamp(change.dueAt)
        yield* sql`
        UPDATE schedules
        SET status = ${change.status}, due_at = coalesce(${dueAt}::timestamptz, due_at), checked_at = NULL,
          pause_note = ${change.note}, updated_at = ${timestamp(change.at)}
        WHERE portfolio_id = ${portfolioId}`
        yield* sql`UPDATE portfolios SET updated_at = ${timestamp(change.at)} WHERE portfolio_id = ${portfolioId}`
      }
      return yield* find(tenantId, portfolioId)
    },
    sql.withTransaction,
    Effect.orDie
  )

  const start = Effect.fn("PortfolioStore.start")(function* (
    tenantId: TenantId,
    portfolioId: PortfolioId,
    dueAt: DateTime.Utc
  ) {
    return yield* setStatus(tenantId, portfolioId, { status: "active", dueAt, at: yield* DateTime.now, note: null })
  })

  const stop = Effect.fn("PortfolioStore.stop")(
    (
      tenantId: TenantId,
      portfolioId: PortfolioId,
      change: { readonly at: DateTime.Utc; readonly note: string | null }
    ) => setStatus(tenantId, portfolioId, { status: "paused", dueAt: null, ...change })
  )

  return PortfolioStore.of({ find, list, update, start, stop })
})

export const layer = Layer.effect(PortfolioStore, make)
