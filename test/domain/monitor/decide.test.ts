/** What a drift monitor does after its own run: what was traded to the target may leave its band anew at once. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { OperationId, PortfolioId, TenantId, WorkflowId } from "#domain/values/Ids.ts"
import { decide } from "#domain/monitor/decide.ts"
import type { Facts } from "#domain/monitor/Facts.ts"
import type { Monitor, MonitorState } from "#domain/monitor/Monitor.ts"
import { begin } from "#domain/monitor/transitions.ts"
import type { OperationOutcome } from "#domain/operation/OperationResult.ts"

const at = (seconds: number) => DateTime.add(DateTime.makeUnsafe("2026-03-01T12:00:00.000Z"), { seconds })
const runOf = (n: number) => `op_0000000000000000000000000${n}` as OperationId

const workflow: Monitor["workflow"] = {
  workflowId: "wf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as WorkflowId,
  tenantId: "tn_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as TenantId,
  portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as PortfolioId,
  ownerAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
  title: "Drift of Halves",
  kind: "triggered",
  trigger: { kind: "portfolio_drift_from_target", bands: { band: { kind: "absolute", width: 500 } } },
  everyMs: null,
  isRepeated: true,
  status: "active"
}

/** A portfolio of two halves, of which the first is worth so many dollars of a hundred. */
const holding = (first: bigint): Facts => ({
  isOpen: true,
  positions: [first, 100n - first].map((usd, index) => ({
    assetId: `eip155:8453/erc20:0x${index}` as AssetId,
    priceUsd: Decimal.one,
    valueUsd: usd * Decimal.one,
    plannedUsd: usd * Decimal.one,
    freeUsd: usd * Decimal.one,
    targetBps: 5_000,
    isCash: index === 1
  })),
  prices: new Map(),
  history: new Map(),
  today: Day.of(at(0)),
  candleChange: () => undefined,
  pendingApprovals: 0
})

const next = (state: MonitorState, seconds: number, known: { readonly facts?: Facts; readonly n?: number } = {}) =>
  decide({ workflow, state, revision: 1 } as Monitor, {
    at: at(seconds),
    operationId: runOf(known.n ?? 1),
    facts: known.facts
  })

/** Fired once at sixty of a hundred; its run has ended with the outcome, and the monitor waits again. */
const afterRun = (outcome: OperationOutcome): MonitorState => {
  const fired = next(begin(workflow, at(0), at(0)), 1, { facts: holding(60n) })
  const running = fired.start!.started(runOf(1), true)
  const end = { operationId: runOf(1), state: "completed" as const, outcome }
  const rested = decide({ workflow, state: running, revision: 2 } as Monitor, {
    at: at(2),
    operationId: runOf(2),
    end
  })
  assert.strictEqual(rested.next.wait, "trigger")
  return rested.next
}

describe("a drift band after its own run", () => {
  it("fires again when a price has left it anew before the next check", () => {
    const again = next(afterRun("traded"), 3, { facts: holding(40n), n: 2 })
    assert.strictEqual(again.start?.operationId, runOf(2))
  })

  it.each(["partly_traded", "skipped", "nothing_to_do"] as const)(
    "does not fire for what its run could not trade (%s), until it has come back",
    (outcome) => {
      const rested = afterRun(outcome)
      const still = next(rested, 3, { facts: holding(60n), n: 2 })
      assert.isUndefined(still.start)
      const back = next(still.next, 4, { facts: holding(51n), n: 2 })
      assert.isUndefined(back.start)
      assert.isDefined(next(back.next, 5, { facts: holding(60n), n: 2 }).start)
    }
  )

  it("which traded all there was to trade, does not fire at what is inside of its band", () => {
    assert.isUndefined(next(afterRun("traded"), 3, { facts: holding(52n), n: 2 }).start)
  })
})
