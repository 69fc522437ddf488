/** What rebalance runs read and leave behind, in PostgreSQL. */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { isTerminal, OperationState, stateOfEnd } from "#domain/operation/Operation.ts"
import { type RunContext, type RunEnd, RunStore } from "#domain/rebalance/RunStore.ts"
import { batched } from "#domain/effects/batched.ts"
import { changeStates } from "#layers/sql/operation/operationEvents.ts"
import { ContextColumns, joinContext, selectContext, toContext } from "#layers/sql/rebalance/planContexts.ts"
import { decodeFirst, decodeRows, timestamp } from "#layers/sql/rows.ts"
import { type Fence, RunFence } from "#layers/sql/run/RunFence.ts"
import { makeScheduleRetries } from "#layers/sql/rebalance/scheduleRetries.ts"
import { storableJson } from "#layers/sql/storable.ts"

const allContexts = decodeRows(
  Schema.Struct({ operationId: OperationId, isCancelRequested: Schema.Boolean, ...ContextColumns })
)
interface FencedEnd extends RunEnd {
  readonly fence: Fence | undefined
}

const firstRun = decodeFirst(Schema.Struct({ state: OperationState, portfolioId: PortfolioId }))
const firstReport = decodeFirst(Schema.Struct({ report: Schema.Unknown }))

/**
 * Replaces what is known of who else may move assets, of portfolios whose runs could see it; the latest run counts. An
 * event is born with each new row.
 */
const recordAuthorities = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  ends: ReadonlyArray<RunEnd>,
  portfolios: ReadonlyMap<string, PortfolioId>
) {
  const latest = new Map<PortfolioId, RunEnd>()
  for (const end of ends) {
    const portfolioId = portfolios.get(end.operationId)!
    const known = latest.get(portfolioId)
    if (end.authorities === undefined || (known !== undefined && DateTime.isGreaterThan(known.at, end.at))) continue
    latest.set(portfolioId, end)
  }
  if (latest.size === 0) return
  const found = [...latest].flatMap(([portfolioId, { at, authorities = [] }]) =>
    authorities.map(({ assetId, holder }) => ({ portfolioId, assetId, holder, at }))
  )
  yield* sql`
    WITH found AS MATERIALIZED (
      SELECT * FROM unnest(${found.map(({ portfolioId }) => portfolioId)}::text[],
        ${found.map(({ assetId }) => assetId)}::text[], ${found.map(({ holder }) => holder)}::text[],
        ${found.map(({ at }) => timestamp(at))}::timestamptz[]) AS f (portfolio_id, asset_id, holder, since)
    ), gone AS (
      DELETE FROM foreign_authorities a
      WHERE a.portfolio_id = ANY(${[...latest.keys()]}::text[])
        AND (a.portfolio_id, a.asset_id, a.holder) NOT IN (SELECT portfolio_id, asset_id, holder FROM found)
    )
    INSERT INTO foreign_authorities (portfolio_id, asset_id, holder, since) SELECT * FROM found
    ON CONFLICT DO NOTHING`
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const contexts = yield* batched(
    (operationId) => operationId,
    (operationIds: ReadonlyArray<OperationId>) =>
      Effect.map(
        allContexts(sql`
          SELECT o.operation_id AS "operationId", o.cancel_requested_at IS NOT NULL AS "isCancelRequested",
          ${sql.literal(selectContext)}
          FROM operations o
          JOIN portfolios p ON p.portfolio_id = o.portfolio_id ${sql.literal(joinContext)}
          WHERE o.operation_id = ANY(${operationIds}::text[])`),
        (rows) => {
          const found = new Map(
            rows.map((row): readonly [OperationId, RunContext] => [
              row.operationId,
              {
                operationId: row.operationId,
                ...(row.isCancelRequested ? { isCancelRequested: true } : {}),
                ...toContext(row)
              }
            ])
          )
          return (operationId: OperationId) => Option.fromUndefinedOr(found.get(operationId))
        }
      )
  )

  const scheduleRetries = yield* makeScheduleRetries(sql)

  /** A run that is finished stays as it is; one that cannot be finished yet is a fault of the caller. */
  const requireFinished = Effect.fnUntraced(function* (operationId: OperationId, to: OperationState) {
    const run = Option.getOrUndefined(
      yield* firstRun(sql`
        SELECT state, portfolio_id AS "portfolioId" FROM operations WHERE operation_id = ${operationId}`)
    )
    if (run !== undefined && isTerminal(run.state)) return run.portfolioId
    return yield* Effect.die(
      new Error(`Operation ${operationId} is ${run?.state ?? "unknown"}: it cannot become ${to}`)
    )
  })

  const finishAll = yield* batched(
    ({ operationId }: FencedEnd) => operationId,
    Effect.fnUntraced(function* (ends: ReadonlyArray<FencedEnd>) {
      const operationIds = ends.map(({ operationId }) => operationId)
      // The portfolios first, in one order: every statement that locks both rows does so in this order.
      yield* sql`
        SELECT 1 FROM portfolios p JOIN operations o ON o.portfolio_id = p.portfolio_id
        WHERE o.operation_id = ANY(${operationIds}::text[]) ORDER BY p.portfolio_id FOR NO KEY UPDATE OF p`
      const rows = yield* changeStates(
        sql,
        ends.map(({ at, ended, error, fence, isCancelled, operationId }) => ({
          operationId,
          to: stateOfEnd(error, isCancelled),
          at,
          error,
          ended,
          fence
        }))
      )
      const portfolios = new Map(rows.map((row) => [row.operation_id, row.portfolio_id]))
      const changed = ends.filter(({ operationId }) => portfolios.has(operationId))
      if (changed.length === 0) return () => undefined
      // A run that waited for its owner may end after a younger one that followed a later version, or with it. What
      // arrived while a run was under way found the portfolio busy, and its due time may have passed over it since.
      yield* sql`
        WITH ended AS MATERIALIZED (
          SELECT * FROM unnest(${changed.map(({ operationId }) => operationId)}::text[],
            ${changed.map(({ operationId }) => portfolios.get(operationId)!)}::text[],
            ${changed.map(({ strategyVersion }) => strategyVersion)}::int[],
            ${changed.map(({ report }) => storableJson(report))}::text[],
            ${changed.map(({ at }) => timestamp(at))}::timestamptz[],
            ${changed.map(({ error }) => error === null)}::boolean[],
            ${changed.map(({ closedRoutes: closed }) => (closed === undefined ? "" : JSON.stringify(closed)))}::text[])
            AS r (operation_id, portfolio_id, strategy_version, report, at, completed, closed_routes)
        ), run AS (
          INSERT INTO rebalance_runs (operation_id, strategy_version, report, finished_at)
          SELECT operation_id, strategy_version, report::jsonb, at FROM ended
        ), portfolio AS (
          UPDATE portfolios p SET strategy_version = greatest(p.strategy_version, r.strategy_version),
            updated_at = r.at, last_rebalance_at = coalesce(r.completed_at, p.last_rebalance_at),
            closed_routes = coalesce(r.closed_routes, p.closed_routes)
          FROM (
            SELECT portfolio_id, max(strategy_version) AS strategy_version, max(at) AS at,
              max(at) FILTER (WHERE completed) AS completed_at,
              (array_agg(closed_routes::jsonb ORDER BY at DESC) FILTER (WHERE closed_routes <> ''))[1] AS closed_routes
            FROM ended GROUP BY portfolio_id
          ) r
          WHERE p.portfolio_id = r.portfolio_id
        )
        UPDATE schedules c SET due_at = least(c.due_at, r.at), updated_at = r.at
        FROM ended r JOIN operations o ON o.operation_id = r.operation_id
        WHERE c.portfolio_id = r.portfolio_id AND c.status = 'active' AND EXISTS (
          SELECT FROM transfers t
          WHERE t.portfolio_id = r.portfolio_id AND t.state <> 'open' AND t.closed_at >= o.submitted_at
        )`
      yield* recordAuthorities(sql, changed, portfolios)
      yield* scheduleRetries(
        changed.map(({ at, isIncomplete, operationId, slices }) => ({
          portfolioId: portfolios.get(operationId)!,
          at: timestamp(at),
          isIncomplete,
          slices
        }))
      )
      return ({ operationId }: RunEnd) => portfolios.get(operationId)
    }, sql.withTransaction)
  )

  const finish = Effect.fn("RunStore.finish")(function* (end: RunEnd) {
    const finished = yield* finishAll({ ...end, fence: yield* RunFence })
    return finished ?? (yield* requireFinished(end.operationId, stateOfEnd(end.error, end.isCancelled)))
  }, Effect.orDie)

  const report = Effect.fn("RunStore.report")((operationId: OperationId) =>
    Effect.map(
      firstReport(sql`SELECT report FROM rebalance_runs WHERE operation_id = ${operationId}`),
      Option.map((row) => row.report)
    )
  )

  return RunStore.of({ context: contexts, finish, report })
})

export const layer = Layer.effect(RunStore, make)
