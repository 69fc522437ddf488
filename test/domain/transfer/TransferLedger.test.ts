/** Which account a transfer is for. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { addressOf, evmAccount, type EvmAddress, SolanaAccountId, spl } from "#domain/Caip.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { receiverOf } from "#domain/transfer/TransferLedger.ts"

const address = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" as EvmAddress
const account = evmAccount(baseUsdc.chainId, address)
const solana = Schema.decodeSync(SolanaAccountId)(
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
)

const transfer: OutgoingTransfer = {
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw: 1_000n,
  minRaw: 990n,
  expectedRaw: 999n,
  bridge: addressOf(baseUsdc.assetId),
  tool: "ferry"
}
const toSolana = { ...transfer, buy: spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v") }

describe("the receiver of a transfer", () => {
  it("between EVM chains is the account with the same address", () =>
    assert.strictEqual(receiverOf(account, transfer), evmAccount(arbUsdc.chainId, address)))

  it("is the account that the transfer names", () =>
    assert.strictEqual(receiverOf(account, { ...toSolana, recipient: solana }), solana))

  it("between families is never guessed", () => {
    assert.throws(() => receiverOf(account, toSolana), /names no recipient/u)
    assert.throws(() => receiverOf(solana, transfer), /names no recipient/u)
  })
})
