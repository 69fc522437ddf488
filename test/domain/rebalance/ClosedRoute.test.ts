/** Tests when a lane between chains on which nothing could be sent is tried again. */
import { assert, describe, it } from "@effect/vitest"
import { chainIdOf } from "#domain/values/Caip.ts"
import { type ClosedRoute, closedFor, closedRoutesAfter } from "#domain/rebalance/ClosedRoute.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"

const [from, to] = [chainIdOf(baseUsdc.assetId), chainIdOf(arbUsdc.assetId)]

const transfer = { sell: baseUsdc.assetId, buy: arbUsdc.assetId, amountRaw: 5n, valueUsd: 5n, expectedRaw: 4n }
const terms = { tool: "test", minRaw: 4n, durationSeconds: 1 }

/** A run plans to send unless the route is closed; `result` is what comes of it then. */
const after = (routes: ReadonlyArray<ClosedRoute>, result: "sent" | "refused" | "reverted" | "unreached") => {
  const isTried = closedFor(routes).length === 0
  const plan: Pick<RunPlan, "chains"> = {
    chains: [{ chainId: from, legs: [], skips: [], ...(isTried ? { transfers: [transfer] } : {}) }]
  }
  const unreached = { assetId: null, code: SkipCode.chainUnavailable, valueUsd: null, reason: "no answer" }
  const outcome: ChainOutcome = {
    chainId: from,
    swaps: [],
    skips: result === "unreached" ? [unreached] : [],
    failure: null,
    receipt: null
  }
  const landed = { ...outcome, transfers: [{ ...transfer, ...terms }] }
  const receipt = (success: boolean) => ({ ...landed, receipt: { success } }) as unknown as ChainOutcome
  const outcomes = {
    sent: receipt(true),
    reverted: receipt(false),
    refused: outcome,
    unreached: outcome
  }
  return { isTried, routes: closedRoutesAfter(routes, plan, [outcomes[result]]) }
}

/** The numbers of the runs that tried, of so many in a row. */
const triesOf = (runs: number, result: "refused" | "reverted") => {
  let routes: ReadonlyArray<ClosedRoute> = []
  const tries: Array<number> = []
  for (let number = 1; number <= runs; number += 1) {
    const run = after(routes, result)
    if (run.isTried) tries.push(number)
    routes = run.routes
  }
  return tries
}

describe("a way on which nothing could be sent", () => {
  it("is left out of 1, 2, 4, ... 32 runs, and tried between them for ever", () => {
    for (const result of ["refused", "reverted"] as const)
      assert.deepStrictEqual(triesOf(140, result), [1, 3, 6, 11, 20, 37, 70, 103, 136])
  })

  it("is forgotten once something left on it", () => {
    const closed = after([{ from, to, failures: 5, runsLeft: 0 }], "sent")
    assert.isTrue(closed.isTried)
    assert.deepStrictEqual(closed.routes, [])
  })

  it("is no more and no less closed after a chain that was not reached", () => {
    assert.deepStrictEqual(after([], "unreached").routes, [])
    const routes = [{ from, to, failures: 3, runsLeft: 0 }]
    assert.deepStrictEqual(after(routes, "unreached").routes, routes)
  })

  it("of another pair of chains stays as it is", () => {
    const other = { from: to, to: from, failures: 2, runsLeft: 2 }
    assert.deepStrictEqual(after([other], "refused").routes[0], { ...other, runsLeft: 1 })
  })
})
