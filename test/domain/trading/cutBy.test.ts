/** Transfers that are cut because the swaps before them yield less than planned. */
import { assert, describe, it } from "@effect/vitest"
import { cutBy } from "#domain/trading/quoteTransfer.ts"
import type { PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"

const transferOf = (amountRaw: bigint): PlannedTransfer => ({
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw,
  expectedRaw: amountRaw,
  valueUsd: amountRaw
})
const amountsOf = (transfers: ReadonlyArray<PlannedTransfer>) => transfers.map(({ amountRaw }) => amountRaw)

describe("cutBy", () => {
  it("cuts all in proportion, and leaves nothing when as much is missing as was planned", () => {
    const planned = [transferOf(300n), transferOf(100n)]
    assert.deepStrictEqual(amountsOf(cutBy(planned, 40n)), [270n, 90n])
    assert.deepStrictEqual(amountsOf(cutBy(planned, 400n)), [0n, 0n])
    assert.deepStrictEqual(cutBy(planned, 0n), planned)
  })

  it("leaves transfers of nothing as they are, however much is missing", () => {
    const nothing = cutBy([transferOf(300n)], 300n)
    assert.deepStrictEqual(cutBy(nothing, 10n), nothing)
  })
})
