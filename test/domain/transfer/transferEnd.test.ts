/** How a transfer ended, by what the chains show and not by what the provider says. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { Arrival } from "#domain/transfer/TransferReceipts.ts"
import type { Transfer, TransferEnd } from "#domain/transfer/Transfer.ts"
import { type Claims, transferEnd } from "#domain/transfer/transferEnd.ts"
import { arbUsdc, arbWeth, baseUsdc } from "#test/support/assets.ts"

const account = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress

const transfer: Transfer = {
  operationId: "op_00000000000000000000000001" as OperationId,
  portfolioId: "pf_00000000000000000000000001" as PortfolioId,
  accountId: evmAccount(baseUsdc.chainId, account),
  receiverId: evmAccount(arbUsdc.chainId, account),
  txHash: "0xsource",
  state: "open",
  openedAt: DateTime.makeUnsafe(0),
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw: 1_000n,
  minRaw: 990n,
  expectedRaw: 999n,
  bridgeAddress: account,
  tool: "ferry"
}

const unclaimed: Claims = { received: [], open: [] }
const delivered = { _tag: "Delivered", txHash: "0xbrought" } as const
const refunded = { _tag: "Refunded", txHash: "0xback" } as const

const bringing = (...deltas: Arrival["deltas"]): Arrival => ({ success: true, isOwn: false, blockNumber: 1n, deltas })
const usdc = (raw: bigint) => bringing({ assetId: arbUsdc.assetId, raw })
const back = bringing({ assetId: baseUsdc.assetId, raw: 500n })

const summary = (end: TransferEnd | undefined) => end && [end.state, end.received?.assetId, end.received?.raw]

describe("the end of a transfer", () => {
  it("is a refund by another transaction that brought the token back", () => {
    assert.deepStrictEqual(summary(transferEnd(transfer, { status: refunded, arrival: back, claims: unclaimed })), [
      "refunded",
      baseUsdc.assetId,
      500n
    ])
  })

  it("is no refund by the transaction that took the amount, whose swaps bought more of the token than left", () => {
    assert.isUndefined(
      transferEnd(transfer, { status: { _tag: "Refunded", txHash: "0xsource" }, arrival: back, claims: unclaimed })
    )
  })

  it("is no delivery by a batch of the account itself, whose swaps bought the token", () => {
    assert.isUndefined(
      transferEnd(transfer, { status: delivered, arrival: { ...usdc(999n), isOwn: true }, claims: unclaimed })
    )
  })

  it("is partial with less than the minimum amount, or with another token", () => {
    assert.deepStrictEqual(
      summary(transferEnd(transfer, { status: delivered, arrival: usdc(989n), claims: unclaimed })),
      ["partial", arbUsdc.assetId, 989n]
    )
    const other = bringing({ assetId: arbWeth.assetId, raw: 3n }, { assetId: baseUsdc.assetId, raw: 2n })
    assert.deepStrictEqual(summary(transferEnd(transfer, { status: delivered, arrival: other, claims: unclaimed })), [
      "partial",
      arbWeth.assetId,
      3n
    ])
  })

  it("is not proved by a transaction that has closed another transfer already", () => {
    const claims = { ...unclaimed, received: [{ assetId: arbUsdc.assetId, raw: 999n }] }
    assert.isUndefined(transferEnd(transfer, { status: delivered, arrival: usdc(999n), claims }))
    // What another received in it is not what this one received.
    const both = bringing({ assetId: arbUsdc.assetId, raw: 999n }, { assetId: arbWeth.assetId, raw: 3n })
    assert.deepStrictEqual(summary(transferEnd(transfer, { status: delivered, arrival: both, claims })), [
      "partial",
      arbWeth.assetId,
      3n
    ])
  })

  it("brings exactly what was expected, though that is enough for the least of a small transfer too", () => {
    const small = { ...transfer, operationId: "op_00000000000000000000000002" as OperationId }
    const open = [{ ...small, amountRaw: 9n, minRaw: 8n, expectedRaw: 9n }]
    const end = transferEnd(transfer, { status: delivered, arrival: usdc(999n), claims: { ...unclaimed, open } })
    assert.deepStrictEqual(summary(end), ["delivered", arbUsdc.assetId, 999n])
  })

  it("brings all that arrived, also more than was expected, while no other transfer can have its part of it", () => {
    const open = [{ ...transfer, operationId: "op_00000000000000000000000002" as OperationId }]
    assert.strictEqual(
      transferEnd(transfer, { status: delivered, arrival: usdc(1_050n), claims: { ...unclaimed, open } })?.received
        ?.raw,
      1_050n
    )
  })

  it("of several that one transaction brought is theirs together, to the last unit, in any order", () =>
    fc.assert(
      fc.property(
        fc
          .array(fc.tuple(fc.bigInt(1_000n, 10n ** 24n), fc.integer({ min: 0, max: 50 }), fc.nat(100)), {
            minLength: 1,
            maxLength: 4
          })
          .map((all) =>
            all.map(([expectedRaw, slippage, part], index) => {
              const minRaw = expectedRaw - (expectedRaw * BigInt(slippage)) / 1_000n
              const operationId = `op_0000000000000000000000000${index}` as OperationId
              const arrived = minRaw + ((expectedRaw - minRaw) * BigInt(part)) / 100n
              return { arrived, sent: { ...transfer, operationId, minRaw, expectedRaw, txHash: `0x${index}` } }
            })
          ),
        (all) => {
          const brought = all.reduce((sum, { arrived }) => sum + arrived, 0n)
          const received: Array<Claims["received"][number]> = []
          for (const [index, { sent }] of all.entries()) {
            const open = all.slice(index + 1).map((other) => other.sent)
            const end = transferEnd(sent, { status: delivered, arrival: usdc(brought), claims: { received, open } })
            assert.strictEqual(end?.state, "delivered")
            received.push(end!.received!)
          }
          assert.strictEqual(
            received.reduce((sum, { raw }) => sum + raw, 0n),
            brought
          )
        }
      ),
      { numRuns: 500 }
    ))
})
