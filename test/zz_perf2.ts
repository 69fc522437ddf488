import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { selectPortfolios, toPortfolio } from "#layers/sql/portfolioRows.ts"
const L = PgClient.layer({ url: Redacted.make(process.env["U"]!), maxConnections: 10 })
await Effect.runPromise(Effect.gen(function*(){
  const sql = yield* SqlClient.SqlClient
  const [{ t, p }] = (yield* sql<{t: string, p: string}>`SELECT tenant_id AS t, portfolio_id AS p FROM portfolios LIMIT 1 OFFSET 500000`) as any
  const select = sql.literal(selectPortfolios)
  const text = `${selectPortfolios} WHERE p.portfolio_id = $1 AND p.tenant_id = $2`
  const a = () => Effect.map(sql<any>`${select} WHERE p.portfolio_id = ${p} AND p.tenant_id = ${t}`, (r) => toPortfolio(r[0]!))
  const f = Effect.fn("x")(function*() { const [row] = yield* sql<any>`${select} WHERE p.portfolio_id = ${p} AND p.tenant_id = ${t}`; return toPortfolio(row!) }, Effect.orDie)
  const b = () => Effect.map(sql.unsafe<any>(text, [p, t]), (r) => toPortfolio(r[0]!))
  const c = () => sql.unsafe<any>(text, [p, t])
  const d = () => sql.unsafe<any>(`SELECT 1`, [])
  const g = () => sql.unsafe<any>(`SELECT portfolio_id, tenant_id, name, created_at FROM portfolios WHERE portfolio_id = $1`, [p])
  for (let round = 0; round < 2; round++) for (const [label, e, conc] of [["fragment", a, 1], ["fn", f, 1], ["unsafe", b, 1], ["unsafe nomap", c, 1], ["one table", g, 1], ["select 1", d, 1], ["fn x10", f, 10], ["unsafe x10", b, 10], ["select 1 x10", d, 10]] as const) {
    const n = 4000
    const s = performance.now()
    yield* Effect.forEach(Array.from({ length: conc }), () => Effect.gen(function*(){ for (let i = 0; i < n / conc; i++) yield* e() as any }), { concurrency: conc })
    console.log(label.padEnd(16), Math.round(n / ((performance.now() - s) / 1000)), "/s")
  }
  const now = "2026-07-01"
  for (const q of [`WITH due AS MATERIALIZED (
        SELECT portfolio_id, due_at FROM schedules
        WHERE status = 'active' AND due_at <= '${now}'
        ORDER BY due_at, portfolio_id LIMIT 200 FOR UPDATE SKIP LOCKED
      )
      SELECT due.portfolio_id AS "portfolioId", due.due_at AS "dueAt", s.frequency
      FROM due
      JOIN portfolios p ON p.portfolio_id = due.portfolio_id
      JOIN strategies s ON s.strategy_id = p.strategy_id`,
      `WITH x AS (SELECT array_agg(portfolio_id) AS a FROM (SELECT portfolio_id FROM schedules WHERE status='active' AND due_at <= '${now}' ORDER BY due_at, portfolio_id LIMIT 200) z)
       SELECT due.operation_id, p.tenant_id, p.portfolio_id FROM x, unnest(a, a) AS due (operation_id, portfolio_id)
        JOIN portfolios p ON p.portfolio_id = due.portfolio_id
        WHERE NOT EXISTS (
          SELECT FROM operations o
          WHERE o.portfolio_id = p.portfolio_id AND o.kind = 'rebalance' AND o.finished_at IS NULL
        )`]) console.log((yield* sql.unsafe<any>("EXPLAIN (ANALYZE, BUFFERS OFF) " + q)).map((r: any) => r["QUERY PLAN"]).join("\n"))
}).pipe(Effect.provide(L)))
