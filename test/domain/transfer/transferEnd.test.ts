/** How a transfer ended, by what the chains show and not by what the provider says. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { evmAccount, type EvmAddress } from "#domain/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/Ids.ts"
import type { Transfer } from "#domain/transfer/Transfer.ts"
import { transferEnd } from "#domain/transfer/transferEnd.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"

const account = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress

const transfer: Transfer = {
  operationId: "op_00000000000000000000000001" as OperationId,
  portfolioId: "pf_00000000000000000000000001" as PortfolioId,
  accountId: evmAccount(baseUsdc.chainId, account),
  txHash: "0xsource",
  state: "open",
  openedAt: DateTime.makeUnsafe(0),
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw: 1_000n,
  leastRaw: 990n,
  expectedRaw: 999n,
  bridge: account,
  tool: "ferry"
}

const brought = { success: true, blockNumber: 1n, deltas: [{ assetId: baseUsdc.assetId, raw: 500n }] }

describe("the end of a transfer", () => {
  it("is a refund by another transaction that brought the token back", () => {
    assert.strictEqual(transferEnd(transfer, { _tag: "Refunded", txHash: "0xback" }, brought)?.state, "refunded")
  })

  it("is no refund by the transaction that took the amount, whose swaps bought more of the token than left", () => {
    assert.isUndefined(transferEnd(transfer, { _tag: "Refunded", txHash: "0xsource" }, brought))
  })
})
