import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Migrations from "#layers/sql/Migrations.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
const N = Number(process.env["N"] ?? 1_000_000)
const L = SqlLive.pipe(Layer.provideMerge(Migrations.layer), Layer.provideMerge(PgClient.layer({ url: Redacted.make(process.env["U"]!), maxConnections: 10 })), Layer.provideMerge(SecureRandom.layerWebCrypto))
await Effect.runPromise(Effect.gen(function*(){
  const sql = yield* SqlClient.SqlClient
  const [c] = yield* sql<{n: number}>`SELECT count(*)::int AS n FROM portfolios`
  if (c!.n === 0) {
    yield* sql`INSERT INTO tenants SELECT 'tn_' || lpad(g::text, 26, '0'), 'n', 'e', '{}', '2026-01-01' FROM generate_series(1, 10) g`
    yield* sql`INSERT INTO strategies SELECT lpad(g::text, 26, '0'), 'tn_' || lpad((1 + g % 10)::text, 26, '0'), 'n', null, 'daily', null, null, null, false, 1, '2026-01-01' FROM generate_series(1, 1000) g`
    yield* sql`INSERT INTO strategy_versions SELECT strategy_id, 1, '[]', null, created_at FROM strategies`
    yield* sql`INSERT INTO portfolios SELECT 'pf_' || lpad(g::text, 26, '0'), 'tn_' || lpad((CASE WHEN g % 100 < 91 THEN 1 ELSE g % 10 + 1 END)::text, 26, '0'), lpad((1 + g % 1000)::text, 26, '0'), 'eip155:0:' || g, 'x', 0, ARRAY['eip155:8453:' || g, 'eip155:42161:' || g], '{}', '0x', 1, null, timestamptz '2026-01-01' + (g/3) * interval '1 second', '2026-01-01', null FROM generate_series(1, ${N}::int) g`
    yield* sql`INSERT INTO schedules SELECT portfolio_id, tenant_id, CASE WHEN substr(portfolio_id, 27)::int % 500 = 0 THEN 'paused' ELSE 'active' END, timestamptz '2026-06-01' + (row_number() OVER () % 86400) * interval '1 second', created_at, created_at FROM portfolios`
    yield* sql`ANALYZE`
  }
  const t = (yield* sql<{t: string}>`SELECT tenant_id AS t FROM portfolios GROUP BY 1 ORDER BY count(*) DESC LIMIT 1`)[0]!.t as never
  const P = yield* PortfolioStore, O = yield* OperationStore
  const time = Effect.fnUntraced(function*<A>(label: string, n: number, e: Effect.Effect<A>) { for (let i=0;i<10;i++) yield* e; const s = performance.now(); for (let i=0;i<n;i++) yield* e; console.log(label.padEnd(40), ((performance.now()-s)/n).toFixed(3), "ms") })
  const page = (f: object, after: any = null) => P.list(t, f, { limit: 50, after })
  const some = (yield* page({}))[20]!
  yield* time("find", 3000, P.find(t, some.portfolioId))
  yield* time("find raw sql", 3000, Effect.orDie(sql`SELECT 1 FROM portfolios WHERE portfolio_id = ${some.portfolioId}`))
  yield* time("page 1", 200, page({}))
  const deep = { createdAt: DateTime.makeUnsafe("2026-01-01T10:00:00Z"), id: some.portfolioId }
  yield* time("deep", 200, page({}, deep))
  yield* time("paused page 1", 200, page({ status: "paused" }))
  yield* time("paused deep", 200, page({ status: "paused" }, deep))
  yield* time("active deep", 200, page({ status: "active" }, deep))
  yield* time("strategy deep", 200, page({ strategyId: some.strategyId }, deep))
  yield* time("strategy+paused deep", 50, page({ strategyId: some.strategyId, status: "paused" }, deep))
  yield* time("owner", 200, page({ ownerAccountId: some.ownerAccountId }))
  yield* time("oldestDue", 200, O.oldestDue(DateTime.makeUnsafe("2026-07-01T00:00:00Z")))
  const s = performance.now(); let n = 0
  for (let i = 0; i < 30; i++) n += (yield* O.claimDue(DateTime.makeUnsafe("2026-07-01T00:00:00Z"), 200)).length
  console.log("claims/s 1 worker", Math.round(n / ((performance.now()-s)/1000)), n)
  const s2 = performance.now()
  const ns = yield* Effect.forEach([1,2,3,4], () => Effect.gen(function*(){ let k=0; for (let i = 0; i < 15; i++) k += (yield* O.claimDue(DateTime.makeUnsafe("2026-07-01T00:00:00Z"), 200)).length; return k }), { concurrency: 4 })
  console.log("claims/s 4 workers", Math.round(ns.reduce((a,b)=>a+b) / ((performance.now()-s2)/1000)))
}).pipe(Effect.provide(L)))
