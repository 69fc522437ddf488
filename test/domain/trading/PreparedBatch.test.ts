/** What a run prepared is stored as the action that it is, and becomes one again where the ledger knows of it. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { solanaAccount, solanaChainId } from "#domain/values/Caip.ts"
import { actionToSubmit, PreparedBatch, StoredBatch } from "#domain/trading/PreparedBatch.ts"
import { PreparedAction } from "#domain/relay/Transaction.ts"
import { account } from "#test/domain/rebalance/preparing.ts"

const actionHash = `0x${"01".repeat(32)}`

/** Transaction as the steps of runs have it. */
const transaction = {
  _tag: "Evm",
  chainId: 8453,
  accountId: account,
  actionHash,
  to: "0x52908400098527886E0F7030069857D2E4169EE7",
  callData: "0x",
  gasLimit: "3",
  bundleGas: "2",
  maxFeePerGas: "1",
  maxPriorityFeePerGas: "1",
  chainNonce: 0,
  laneNonces: [],
  fromBlock: "7"
}
const steps = {
  _tag: "Solana",
  chainId: solanaChainId,
  accountId: solanaAccount("7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"),
  actionHash,
  parts: ["a swap"],
  maxLamports: "5000",
  lamportNative: "1000000000",
  slot: "400000000"
}

const codec = Schema.toCodecJson(StoredBatch)
const decode = Schema.decodeUnknownSync(codec)
const action = Schema.decodeUnknownSync(Schema.toCodecJson(PreparedAction))

describe("a prepared batch", () => {
  it("is stored as its action, of either family", () => {
    for (const [stored, from] of [
      [transaction, transaction.fromBlock],
      [steps, steps.slot]
    ] as const) {
      const batch = decode(stored)
      assert.deepStrictEqual(Schema.encodeSync(codec)(batch), stored)
      assert.deepStrictEqual(actionToSubmit(batch), action(stored))
      assert.strictEqual(batch.foundFrom, BigInt(from))
      assert.deepStrictEqual([batch.accountId, batch.actionHash], [stored.accountId, stored.actionHash])
    }
  })

  it("says what it may cost, and is the action that it was made from", () => {
    const batch = decode(transaction)
    assert.deepInclude(batch.cost, { gasLimit: 3n, maxFeePerGas: 1n })
    assert.deepStrictEqual(new PreparedBatch(action(steps)), decode(steps))
  })

  it("is an action again in the file alone that records intents", () => {
    const root = join(import.meta.dirname, "../../..")
    const users = ["domain", "layers", "src", "http", "rpc", "stream"]
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`)
      )
      .filter((path) => path.endsWith(".ts") && readFileSync(join(root, path), "utf8").includes("actionToSubmit"))
    assert.sameMembers(users, ["domain/rebalance/submitBatch.ts", "domain/trading/PreparedBatch.ts"])
  })
})
