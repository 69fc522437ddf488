/** Which account a transfer is for, and who may write intents. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { addressOf, evmAccount, type EvmAddress, SolanaAccountId, spl } from "#domain/values/Caip.ts"
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
  bridgeAddress: addressOf(baseUsdc.assetId),
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

const root = join(import.meta.dirname, "../../..")

/** Files of the service that take a method of that name from the ledger. */
const callersOf = (method: string): ReadonlyArray<string> =>
  ["domain", "layers"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`)
    )
    .filter((path) => path.endsWith(".ts") && readFileSync(join(root, path), "utf8").includes(`ledger.${method}`))
    .toSorted()

describe("an intent", () => {
  it("is recorded by the service alone that ends it, and ended besides where its run died", () => {
    assert.deepStrictEqual(callersOf("recordIntent"), ["domain/rebalance/submitBatch.ts"])
    assert.deepStrictEqual(callersOf("cancelIntent"), [
      "domain/rebalance/submitBatch.ts",
      "domain/transfer/resolveIntent.ts"
    ])
  })

  it("is read by the service alone that has accounts read in between", () =>
    assert.deepStrictEqual(callersOf("intentsOf"), ["domain/transfer/InTransit.ts"]))
})
