import { toPortfolio } from "#layers/sql/portfolioRows.ts"
import { DateTime } from "effect"
const d = new Date()
const row: any = { portfolio_id: "a", account_ids: [], last_rebalance_at: d, created_at: d, updated_at: d, due_at: d, status: "active" }
for (let r = 0; r < 3; r++) { const s = performance.now(); for (let i = 0; i < 100000; i++) toPortfolio(row); console.log("map us", (performance.now() - s) / 100) 
const s2 = performance.now(); for (let i = 0; i < 100000; i++) DateTime.makeUnsafe(d.getTime()); console.log("dt us", (performance.now() - s2) / 100) }
