/** The steps in which a transaction is put on its chain, and those of a version that had one more. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { type Activity, Workflow, WorkflowEngine } from "effect/workflow"
import type { AccountId, ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { PartRelay } from "#domain/relay/PartRelay.ts"
import type { ActionReceipt, PreparedAction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { TransactionRelay } from "#domain/relay/TransactionRelay.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"

const chainId = 8453 as ChainId
const attempt = { operationId: "op" as OperationId, chainId, attempt: 1 }
const hash = (byte: string) => `0x${byte.repeat(32)}`

const prepared: PreparedAction = {
  _tag: "Evm",
  chainId,
  accountId: "eip155:8453:0x01" as AccountId,
  actionHash: hash("07"),
  to: "0x01" as EvmAddress,
  callData: "0x",
  gasLimit: 100n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  fromBlock: 1n,
  chainNonce: 0,
  laneNonces: []
}

const receipt: ActionReceipt = {
  actionHash: hash("07"),
  txHash: hash("08"),
  blockNumber: 11n,
  blockHash: hash("ee"),
  success: true,
  gasUsed: 7n,
  deltas: []
}

/** An engine in memory that reports its steps. */
const engineThatTells = (steps: Array<string>) =>
  Layer.effect(
    WorkflowEngine.WorkflowEngine,
    Effect.map(WorkflowEngine.WorkflowEngine, (inner) => {
      const engine: typeof inner = WorkflowEngine.WorkflowEngine.of({
        ...inner,
        register: ((workflow: Workflow.Any, execute: (payload: unknown, id: string) => Effect.Effect<unknown>) =>
          inner.register(
            workflow as never,
            ((payload: unknown, id: string) =>
              Effect.provideService(execute(payload, id), WorkflowEngine.WorkflowEngine, engine)) as never
          )) as never,
        activityExecute: ((activity: Activity.Activity, number: number) =>
          Effect.map(inner.activityExecute(activity, number), (result) => {
            steps.push(activity.name)
            return result
          })) as never
      })
      return engine
    })
  ).pipe(Layer.provide(WorkflowEngine.layerMemory))

const included = Effect.gen(function* () {
  const steps: Array<string> = []
  const recorded: Array<ActionReceipt> = []
  const services = Layer.mergeAll(
    Layer.mock(OperationStore, { transition: () => Effect.succeed(true) }),
    Layer.mock(Chains, { supported: [chainId] }),
    Layer.mock(UserOperations, {}),
    Layer.mock(Relayer, {
      address: "0x02" as EvmAddress,
      accounts: ["0x02" as EvmAddress],
      broadcast: () => Effect.void
    }),
    Layer.mock(RelayStore, {
      signed: () => Effect.succeed([]),
      reserve: () => Effect.succeed(true),
      sent: () => Effect.succeedSome({ transaction: {} as SignedTransaction } as never),
      recordReceipt: (_, found) => Effect.sync(() => void recorded.push(found))
    }),
    Layer.succeed(PartRelay, { submit: () => Effect.succeedNone }),
    Layer.succeed(RelayTiming, {
      searchFor: Duration.seconds(1),
      searchInterval: Duration.millis(1),
      holdFor: Duration.minutes(5)
    })
  )
  const relay = Context.get(yield* Layer.build(TransactionRelay.layer.pipe(Layer.provide(services))), TransactionRelay)
  let answer: Option.Option<ActionReceipt> = Option.none()
  const workflow = Workflow.make("Submit", {
    payload: { key: Schema.String },
    success: Schema.Void,
    idempotencyKey: ({ key }) => key
  })
  const body = workflow.toLayer(() =>
    Effect.map(
      relay.submit(attempt, prepared, () => Effect.succeedSome(receipt)),
      (found) => void (answer = found)
    )
  )
  yield* workflow.execute({ key: "one" }).pipe(Effect.provide(body.pipe(Layer.provideMerge(engineThatTells(steps)))))
  return { steps, recorded, answer: Option.getOrNull(answer) }
})

describe("a transaction", () => {
  it.live("is signed and found in two steps, of which the second records it", () =>
    Effect.gen(function* () {
      const { answer, recorded, steps } = yield* included
      assert.deepStrictEqual(steps, ["sign/8453/1", "confirm/8453/1/1"])
      assert.deepStrictEqual(recorded, [receipt])
      assert.deepStrictEqual(answer, receipt)
    })
  )
})
