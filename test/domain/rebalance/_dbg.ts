import { plan } from "#domain/rebalance/planRebalance.ts"
import { applyPlan } from "./applyPlan.ts"
import { readFileSync } from "node:fs"
const raw = JSON.parse(readFileSync(0, "utf8"))[0]
for (const c of raw.chains) for (const h of c.holdings) { h.balanceRaw = BigInt(h.balanceRaw); h.priceUsd = h.priceUsd === null ? null : BigInt(h.priceUsd) }
raw.preferences.thresholdUsd = BigInt(raw.preferences.thresholdUsd)
const show = (p: any) => { for (const c of p.chains) { const f = (x: any) => x === null ? null : Number(x) / 1e18
 console.log("V", f(c.valueUsd)); for (const t of c.targets) console.log(" ", t.assetId.slice(-3), t.weight, f(t.valueUsd), f(t.targetUsd)); for (const l of c.legs) console.log("  leg", l.sell.slice(-3), l.buy.slice(-3), f(l.valueUsd), l.sellAmountRaw, l.expectedBuyRaw); for (const s of c.skips) console.log("  skip", s.assetId?.slice(-3), s.code, f(s.valueUsd), s.reason) } }
let input = raw
for (let i = 0; i < 3; i++) { const p = plan(input); show(p); input = applyPlan(input, p) }
