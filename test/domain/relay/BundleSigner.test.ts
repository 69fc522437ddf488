/** Operations of many runs, of which several transactions are made. */
import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { AccountId, ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { BundleSigner } from "#domain/relay/BundleSigner.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type RelayedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"

const chainId = 8453 as ChainId

/** Two of these fill a transaction. */
const action = (id: string): RelayedAction => ({
  attempt: { operationId: id as OperationId, chainId, attempt: 1 },
  prepared: {
    _tag: "Evm",
    chainId,
    accountId: `eip155:8453:${id}` as AccountId,
    actionHash: id,
    to: "0x01" as EvmAddress,
    callData: "0x",
    gasLimit: 100n,
    bundleGas: 200n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    fromBlock: 1n,
    chainNonce: 0,
    laneNonces: []
  }
})

/** A signer of one account, over a store that the test makes. */
const signerOver = (store: Pick<RelayStore["Service"], "signed" | "reserve">) => {
  const services = Layer.mergeAll(
    Layer.mock(Chains, { supported: [chainId] }),
    Layer.mock(Relayer, { address: "0x02" as EvmAddress, accounts: ["0x02" as EvmAddress] }),
    Layer.mock(UserOperations, {
      bundle: (operations) => Effect.succeed({ transaction: operations[0], kept: operations.map((_, index) => index) })
    }),
    Layer.mock(RelayStore, store)
  )
  return Layer.build(BundleSigner.layer.pipe(Layer.provide(services))).pipe(
    Effect.flatMap((context) => Effect.provide(BundleSigner, context))
  )
}

it.effect("what one transaction includes goes on when that one is signed, while another is still being signed", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const reserved: Array<ReadonlyArray<string>> = []
    const { sign } = yield* signerOver({
      signed: () => Effect.succeed([]),
      reserve: (actions) => {
        reserved.push(actions.map(({ prepared }) => prepared.actionHash))
        return Effect.as(reserved.length === 2 ? Deferred.await(gate) : Effect.void, true)
      }
    })
    const signing = yield* Effect.forEach(["a", "b", "c", "d"], (id) =>
      Effect.forkChild(sign(action(id)), { startImmediately: true })
    )
    yield* TestClock.adjust(Duration.millis(30))
    yield* Effect.forEach(signing.slice(0, 2), Fiber.join)
    assert.deepStrictEqual(reserved, [
      ["a", "b"],
      ["c", "d"]
    ])
    assert.isUndefined(signing[2]!.pollUnsafe())
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach(signing.slice(2), Fiber.join)
  })
)

it.effect("what is signed already waits for no key: not in a group, and not alone", () =>
  Effect.gen(function* () {
    const [signed, open] = [action("signed"), action("open")]
    const asked: Array<string> = []
    const { sign } = yield* signerOver({
      signed: (attempts) => Effect.succeed(attempts.filter(({ operationId }) => operationId === "signed")),
      reserve: ([{ prepared }]) =>
        Effect.andThen(
          Effect.sync(() => asked.push(prepared.actionHash)),
          Effect.never
        )
    })
    const hanging = yield* Effect.forkChild(sign(open), { startImmediately: true })
    yield* TestClock.adjust(Duration.millis(30))
    assert.deepStrictEqual(asked, ["open"])
    yield* sign(signed)
    const { bundleGas: _bundleGas, ...alone } = signed.prepared
    yield* sign({ ...signed, prepared: alone })
    assert.deepStrictEqual(asked, ["open"])
    assert.isUndefined(hanging.pollUnsafe())
  })
)
