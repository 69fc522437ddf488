/** What is signed next is prepared, then the chain is asked for what carried its operation out without a record. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { OrderRun } from "#domain/order/OrderRun.ts"
import { OrderStore, type StoredOrder } from "#domain/order/OrderStore.ts"
import { CallsPreparer } from "#domain/order/CallsPreparer.ts"
import { SwapPreparer } from "#domain/order/SwapPreparer.ts"
import { EvmAddress, solanaAccount, solanaChainId, spl } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import type { Ready } from "#domain/rebalance/Preparation.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { makePrepareUnlessTraded } from "#domain/rebalance/prepareUnlessTraded.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { type TaggedOperation, OperationTags, type SoughtOperation } from "#domain/relay/OperationTags.ts"
import { PreparedBatch } from "#domain/trading/PreparedBatch.ts"
import { ChainAction } from "#domain/relay/ChainAction.ts"
import { prepareUnlessIncluded } from "#domain/relay/prepareUnlessIncluded.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { type ActionReceipt, toSign, type PreparedAction } from "#domain/relay/Transaction.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { account, context, operationId, planOf, usdcLeg } from "#test/domain/rebalance/preparing.ts"
import { baseUsdc } from "#test/support/assets.ts"

const bytes = (byte: string) => `0x${byte.repeat(32)}`
const solanaAccountId = solanaAccount("7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU")

const steps: PreparedAction = {
  _tag: "Solana",
  chainId: solanaChainId,
  accountId: solanaAccountId,
  actionHash: bytes("07"),
  parts: ["sell"],
  maxLamports: 10_000n,
  lamportNative: 1n,
  slot: 350_000_000n
}
const transaction: PreparedAction = {
  _tag: "Evm",
  chainId: baseUsdc.chainId,
  accountId: account,
  actionHash: bytes("08"),
  to: EvmAddress.make("0x1111111111111111111111111111111111111111"),
  callData: "0x",
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  chainNonce: 0,
  laneNonces: [],
  fromBlock: 30_000_000n
}
/** Each, and the block or slot at which its account was read. */
const actions = [
  { action: steps, readAt: 350_000_000n },
  { action: transaction, readAt: 30_000_000n }
]
const receipt: ActionReceipt = {
  actionHash: bytes("09"),
  txHash: bytes("0a"),
  blockNumber: 11n,
  blockHash: null,
  success: true,
  gasUsed: 1n,
  deltas: []
}

/** What a chain shows, and what it was asked, in order. */
const tagsOf = (answer: Effect.Effect<TaggedOperation, ChainUnavailable>) => {
  const asked: Array<SoughtOperation> = []
  return {
    asked,
    tags: OperationTags.of({
      find: (sought) =>
        Effect.andThen(
          Effect.sync(() => asked.push(sought)),
          answer
        )
    })
  }
}
const absent = Effect.succeed<TaggedOperation>({ _tag: "Absent" })
const ago = (seconds: number) => Effect.map(DateTime.now, DateTime.subtract({ seconds }))

/** Prepares the given for an operation of so many seconds ago. */
const prepared = Effect.fnUntraced(function* (
  next: PreparedAction | undefined,
  answer: Effect.Effect<TaggedOperation, ChainUnavailable>,
  { seconds = 30, hasAccount = true } = {}
) {
  const { asked, tags } = tagsOf(answer)
  const order: Array<string> = []
  const shown = yield* prepareUnlessIncluded(
    {
      find: (sought) =>
        Effect.andThen(
          Effect.sync(() => order.push("asked")),
          tags.find(sought)
        )
    },
    {
      chainId: solanaChainId,
      operationId,
      since: yield* ago(seconds),
      accountOf: () => Effect.succeed(hasAccount ? Option.some(solanaAccountId) : Option.none()),
      prepare: Effect.sync(() => order.push("prepared") > 0),
      toSign: () => (next === undefined ? undefined : toSign(next))
    }
  )
  return { asked, order, shown }
})

describe("what is signed next", () => {
  it.effect("is prepared before the chain is asked, which must have reached where the account was read", () =>
    Effect.gen(function* () {
      for (const { action, readAt } of actions) {
        const { asked, order, shown } = yield* prepared(action, absent)
        assert.deepStrictEqual(order, ["prepared", "asked"])
        assert.deepStrictEqual(shown, { _tag: "Prepared", made: true })
        assert.deepStrictEqual(asked[0]?.fromBlock, readAt)
      }
      const nothing = yield* prepared(undefined, absent)
      assert.strictEqual(nothing.asked[0]?.fromBlock, 0n, "nothing is to be signed")
    })
  )

  it.effect("is not sought of an operation that is younger than a failover, or without an account", () =>
    Effect.gen(function* () {
      for (const without of [{ seconds: 4 }, { hasAccount: false }]) {
        const { asked, shown } = yield* prepared(steps, Effect.succeed({ _tag: "Included", receipt }), without)
        assert.deepStrictEqual(shown, { _tag: "Prepared", made: true })
        assert.deepStrictEqual(asked, [])
      }
    })
  )

  it.effect("is what the chain shows where it shows anything, and not to be signed where it cannot tell", () =>
    Effect.gen(function* () {
      const error = new ChainUnavailable({ chainId: solanaChainId, reason: "no endpoint answers" })
      const included = yield* prepared(steps, Effect.succeed({ _tag: "Included", receipt }))
      assert.deepStrictEqual(included.shown, { _tag: "Included", receipt })
      const pending = yield* prepared(steps, Effect.succeed({ _tag: "Pending" }))
      assert.deepStrictEqual(pending.shown, { _tag: "Pending" })
      const unasked = yield* prepared(steps, Effect.fail(error))
      assert.deepStrictEqual(unasked.shown, { _tag: "Unasked", made: true, error })
    })
  )
})

const swap = {
  sell: spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
  buy: spl("JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN")
}

/** A run whose plan on a chain is older than a failover: what the chain was asked. */
const askedByRun = Effect.fnUntraced(function* (action: PreparedAction) {
  const { asked, tags } = tagsOf(absent)
  const ready: Ready = { _tag: "Ready", swaps: [], skips: [], prepared: new PreparedBatch(action) }
  const [grant] = context.grants
  const { authorization } = grant!
  const chains = [{ ...authorization.chains[0], chainId: action.chainId, accountId: action.accountId }] as const
  const run = { ...context, operationId, grants: [{ ...grant!, authorization: { ...authorization, chains } }] }
  yield* Effect.flatMap(makePrepareUnlessTraded, (prepareUnlessTraded) =>
    Effect.flatMap(ago(30), (plannedAt) =>
      prepareUnlessTraded({
        attempt: { operationId, chainId: action.chainId, attempt: 1 },
        plan: planOf(plannedAt, [usdcLeg]),
        prepare: Effect.succeed(ready)
      })
    )
  ).pipe(
    Effect.provide([
      Layer.mock(RunStore, { context: () => Effect.succeedSome(run) }),
      Layer.succeed(OperationTags, tags)
    ])
  )
  return asked
})

/** An owner's order that is older than a failover: what the chain was asked before it was included. */
const askedByOrder = Effect.fnUntraced(function* (action: PreparedAction) {
  const { asked, tags } = tagsOf(absent)
  const stored: StoredOrder = {
    ...context,
    grants: [context.grants[0]!],
    ownerAccountId: context.grants[0]!.authorization.ownerAccountId,
    swap: { strategy: context.swap, tenant: context.tenantSwap, accepted: null },
    isRevoked: false,
    operationId,
    submittedAt: yield* ago(30),
    correlationId: "",
    order: {
      _tag: "Swap",
      chainId: action.chainId,
      accountId: action.accountId,
      ...swap,
      amountRaw: 1n,
      slippageBps: null
    },
    promised: []
  }
  const services = OrderRun.layer.pipe(
    Layer.provide(ChainAction.layer),
    Layer.provide([
      Layer.mock(OperationStore, {
        transition: () => Effect.succeed(true),
        isRebalancing: () => Effect.succeed(false)
      }),
      Layer.mock(AccountQueue, { acquire: () => Effect.succeed({ state: "acquired", ahead: 0 }) }),
      Layer.mock(OrderStore, { find: () => Effect.succeedSome(stored), finish: () => Effect.void }),
      Layer.mock(SwapPreparer, { next: () => Effect.succeed({ _tag: "Ready", prepared: action }) }),
      Layer.mock(TransactionRelay, { submit: () => Effect.succeedNone }),
      Layer.succeed(OperationTags, tags),
      Layer.mock(CallsPreparer, {}),
      Layer.mock(ActionReceipts, {}),
      Layer.mock(RelayStore, {}),
      Layer.mock(PortfolioValuer, {}),
      Layer.mock(GasBudget, {})
    ])
  )
  const workflow = Workflow.make("Order", {
    payload: { key: Schema.String },
    success: Schema.Void,
    idempotencyKey: ({ key }) => key
  })
  const body = workflow.toLayer(() => Effect.flatMap(OrderRun, ({ execute }) => execute(operationId)))
  yield* workflow
    .execute({ key: "one" })
    .pipe(Effect.provide(body.pipe(Layer.provide(services), Layer.provideMerge(WorkflowEngine.layerMemory))))
  return asked
})

describe("a run and an order", () => {
  for (const { action, readAt } of actions) {
    const family = action._tag ?? "Evm"
    it.live(`ask the same before they sign: ${family}`, () =>
      Effect.gen(function* () {
        const byRun = yield* askedByRun(action)
        const byOrder = yield* askedByOrder(action)
        const { accountId, chainId } = action
        for (const asked of [byRun, byOrder]) {
          assert.lengthOf(asked, 1)
          assert.deepInclude(asked[0], { operationId, chainId, accountId, fromBlock: readAt })
        }
      })
    )
  }
})
