import * as fc from "fast-check"
import { plan } from "#domain/rebalance/planRebalance.ts"
import { portfolio } from "./portfolios.ts"
import { applyPlan } from "./applyPlan.ts"
const require_print = (o: any) => console.log(JSON.stringify(o.counterexample, (_k, v) => typeof v === "bigint" ? String(v) : v).slice(0, 300000))
const runs = Number(process.argv[2] ?? 2000)
for (const kind of [{ isFree: true, isFine: true }, { isFine: true }, { isFree: true }, {}, { maxAssets: 40, chains: 1, isFree: true, isFine: true }, { maxAssets: 40, chains: 1 }]) {
  let worst = -9, legs = 0, trading = 0, maxms = 0
  const t0 = performance.now()
  const out = fc.check(fc.property(portfolio(kind), (input) => {
    const a = performance.now()
    const p = plan(input)
    maxms = Math.max(maxms, performance.now() - a)
    const n = p.chains.reduce((s, c) => s + c.legs.length, 0)
    legs += n; if (n) trading++
    for (const c of p.chains) {
      const touched = new Set(c.legs.flatMap((l) => [l.sell, l.buy]))
      if (kind.isFine && c.legs.length > Math.max(0, touched.size - 1)) throw new Error("leg bound " + c.legs.length + " " + touched.size)
      for (const l of c.legs) { if (l.sellAmountRaw <= 0n || l.expectedBuyRaw <= 0n) throw new Error("zero leg"); if (l.valueUsd < input.preferences.thresholdUsd) throw new Error("small leg " + l.valueUsd) }
      const sells = new Set(c.legs.map((l) => l.sell)); for (const l of c.legs) if (sells.has(l.buy)) throw new Error("both")
    }
    const next = applyPlan(input, p)
    for (const c of next.chains) for (const h of c.holdings) if (h.balanceRaw < 0n) throw new Error("oversold")
    const q = plan((kind as any).isFine ? next : applyPlan(applyPlan(input, p), plan(next)))
    if ((kind as any).isFree && (kind as any).isFine) for (const c of q.chains) {
      const th = input.preferences.thresholdUsd > 10n ** 16n ? input.preferences.thresholdUsd : 10n ** 16n
      const dust = c.targets.reduce((s2, t) => s2 + (t.weight === 0 && t.valueUsd! < th ? t.valueUsd! : 0n), 0n)
      if (c.weight > 0) for (const t of c.targets) { const d = t.valueUsd! - t.targetUsd!; const ad = d < 0n ? -d : d; const r = Number((ad - th - dust) * 1000n / th) / 1000; if (r > worst) worst = r }
    }
    const m = q.chains.reduce((s, c) => s + c.legs.length, 0)
    if (m > 0) throw new Error("not fixed: " + m + " of " + n)
  }), { numRuns: runs, endOnFailure: process.argv[3] === "fast" })
  console.log(JSON.stringify(kind), out.failed ? "FAILED after " + out.numRuns + " " + String((out as any).errorInstance?.message) : "ok", "legs", legs, "trading", trading, "worst", worst, "maxms", maxms.toFixed(2), ((performance.now() - t0) / out.numRuns).toFixed(3), "ms/run")
  if (out.failed && process.argv[3] !== "fast") { require_print(out) }
}
