import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Schema } from "effect"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { solanaAccount, solanaChainId, spl } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { effectOf } from "#domain/rebalance/chainOutcomes.ts"
import { makeSubmitParts } from "#domain/relay/submitParts.ts"
import type { PartOutcome } from "#domain/relay/PartRelay.ts"
import type { ActionReceipt, PreparedParts } from "#domain/relay/Transaction.ts"

const account = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
const usdc = spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
const jup = spl("JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN")
const chainId = solanaChainId
const attempt = { operationId: "op" as OperationId, chainId, attempt: 1 }

const prepared: PreparedParts = {
  _tag: "Solana",
  chainId,
  accountId: solanaAccount(account),
  actionHash: `0x${"07".repeat(32)}`,
  parts: ["sell", "buy"],
  maxLamports: 10_000n,
  lamportNative: 1_000_000_000n,
  slot: 10n
}

const landed = (slot: bigint, raw: bigint): PartOutcome => ({
  _tag: "Landed",
  txHash: `${slot}`.padStart(64, "5"),
  slot,
  feeRaw: 5_000n,
  deltas: [
    { assetId: usdc, raw: -raw },
    { assetId: jup, raw }
  ]
})
const refused: PartOutcome = { _tag: "Failed", reason: "below the minimum", isSigned: false, included: null }
const unavailable = new ChainUnavailable({ chainId, reason: "no endpoint answers" })
type Answer = PartOutcome | "pending" | "unavailable"

/**
 * Submits the parts as a run would, over the answers of a relay of parts, in order; what was asked, reported and
 * recorded.
 */
const included = Effect.fnUntraced(function* (...answers: ReadonlyArray<Answer>) {
  const left = [...answers]
  const asked: Array<number> = []
  const states: Array<string> = []
  const recorded: Array<ActionReceipt> = []
  const submit = makeSubmitParts({
    partRelay: {
      submit: (_, __, part) =>
        Effect.suspend(() => {
          asked.push(part)
          const answer = left.shift()!
          if (answer === "unavailable") return Effect.fail(unavailable)
          return Effect.succeed(answer === "pending" ? Option.none() : Option.some(answer))
        })
    },
    operations: { transition: ({ to }) => Effect.sync(() => states.push(to) > 0) },
    store: { recordReceipt: (_, receipt) => Effect.sync(() => void recorded.push(receipt)) },
    timing: { searchFor: Duration.millis(1), searchInterval: Duration.millis(1), holdFor: Duration.minutes(5) }
  })
  let receipt: Option.Option<ActionReceipt> = Option.none()
  const workflow = Workflow.make("Steps", {
    payload: { key: Schema.String },
    success: Schema.Void,
    idempotencyKey: ({ key }) => key
  })
  const body = workflow.toLayer(() => Effect.map(submit(attempt, prepared), (found) => void (receipt = found)))
  yield* workflow
    .execute({ key: "one" })
    .pipe(Effect.provide(body.pipe(Layer.provideMerge(WorkflowEngine.layerMemory))))
  return { asked, states, recorded, receipt: Option.getOrNull(receipt) }
})

describe("an action of several parts", () => {
  it.live("is submitted part after part, each until the chain has decided, and has one receipt", () =>
    Effect.gen(function* () {
      const { asked, receipt, recorded, states } = yield* included(
        "unavailable",
        "pending",
        landed(11n, 3n),
        landed(12n, 4n)
      )
      assert.deepStrictEqual(asked, [0, 0, 0, 1])
      assert.deepStrictEqual(states, ["retrying", "retrying", "running"])
      assert.deepStrictEqual(recorded, [receipt!])
      assert.deepInclude(receipt!, { success: true, blockNumber: 12n, gasUsed: 10_000n, gasPriceRaw: 1_000_000_000n })
      assert.deepStrictEqual(receipt!.deltas, [
        { assetId: usdc, raw: -7n },
        { assetId: jup, raw: 7n }
      ])
    })
  )

  it.live("goes on after a part without effect, and says which one that was", () =>
    Effect.gen(function* () {
      const { receipt } = yield* included(refused, landed(12n, 4n))
      assert.isTrue(receipt!.success)
      assert.deepStrictEqual(receipt!.unmade, [{ part: 0, isCancelled: false, reason: "below the minimum" }])
    })
  )

  it.live("records nothing where nothing was signed, and has no receipt where it was cancelled before", () =>
    Effect.gen(function* () {
      const unsigned = yield* included(refused, refused)
      assert.deepStrictEqual(unsigned.recorded, [])
      assert.deepInclude(unsigned.receipt!, { success: false, txHash: prepared.actionHash, transactions: [] })
      assert.isNull((yield* included({ _tag: "Cancelled" }, { _tag: "Cancelled" })).receipt)
      const late = yield* included(landed(11n, 3n), { _tag: "Cancelled" })
      assert.deepInclude(late.receipt!, { success: true })
      assert.isTrue(late.receipt!.unmade![0]!.isCancelled)
    })
  )

  it("reports to a run the swaps that were made, and of the others as skips with their value", () => {
    const execution = { _tag: "Solana" } as const
    const swap = { sell: usdc, buy: jup, sellAmountRaw: 5n, minBuyAmountRaw: 1n, execution }
    const other = { ...swap, sell: jup, buy: usdc }
    const usd = 10n ** 19n
    const chain = {
      chainId,
      skips: [],
      legs: [{ sell: usdc, buy: jup, sellAmountRaw: 10n, valueUsd: usd, expectedBuyRaw: 1n }]
    }
    const receipt: ActionReceipt = {
      actionHash: prepared.actionHash,
      txHash: prepared.actionHash,
      blockNumber: 1n,
      blockHash: null,
      success: true,
      gasUsed: 0n,
      deltas: [],
      unmade: [{ part: 0, isCancelled: false, reason: "below the minimum" }]
    }
    const effect = effectOf({ swaps: [swap, other], skips: [] }, chain, receipt)
    assert.deepStrictEqual(effect.swaps, [other])
    assert.isNull(effect.failure)
    assert.deepInclude(effect.skips[0]!, { code: "SIMULATION_FAILED", valueUsd: usd / 2n, sell: usdc, buy: jup })
    assert.match(effect.skips[0]!.reason, /below the minimum; 5\.00 USD are not traded/)
    const cancelled = [{ part: 0, isCancelled: true, reason: "cancelled" }]
    const none = effectOf({ swaps: [swap], skips: [] }, chain, { ...receipt, success: false, unmade: cancelled })
    assert.strictEqual(none.skips[0]!.code, "CANCELLED")
    assert.strictEqual(none.failure, "no swap was made: cancelled")
  })
})
