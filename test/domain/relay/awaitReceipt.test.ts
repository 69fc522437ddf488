/** What a search for a receipt says of its operation while it lasts. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { awaitReceipt, type FindReceipt } from "#domain/relay/awaitReceipt.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"

const chainId = 8453 as ChainId
const relayer = "0x02" as EvmAddress
const unavailable = new ChainUnavailable({ chainId, reason: "no answer" })
const receipt: ActionReceipt = {
  actionHash: `0x${"07".repeat(32)}`,
  txHash: `0x${"08".repeat(32)}`,
  blockNumber: 11n,
  blockHash: `0x${"ee".repeat(32)}`,
  success: true,
  gasUsed: 7n,
  deltas: []
}

interface Search {
  readonly isRetrying?: boolean
  readonly broadcast?: Effect.Effect<void, ChainUnavailable>
  readonly find?: FindReceipt
  readonly isFirst?: boolean
}

/** The answer of a search of ten seconds, the states that the operation was put into, and why it is said to wait. */
const searched = Effect.fnUntraced(function* ({ broadcast, find, isFirst = true, isRetrying = false }: Search) {
  const states: Array<string> = []
  const reasons: Array<unknown> = []
  const services = yield* Layer.build(
    Layer.mergeAll(
      Layer.mock(OperationStore, {
        transition: ({ to }) =>
          Effect.sync(() => {
            states.push(to)
            return true
          }),
        append: ({ kind, payload }) => Effect.sync(() => void reasons.push([kind, payload]))
      }),
      Layer.mock(RelayStore, {
        sent: () => Effect.succeedSome({ transaction: {} as SignedTransaction, isRetrying } as never)
      }),
      Layer.mock(Relayer, { address: relayer, accounts: [relayer], broadcast: () => broadcast ?? Effect.void })
    )
  )
  const search = yield* Effect.forkChild(
    awaitReceipt({
      operations: Context.get(services, OperationStore),
      store: Context.get(services, RelayStore),
      relayer: Context.get(services, Relayer),
      attempt: { operationId: "op" as OperationId, chainId, attempt: 1 },
      find: find ?? (() => Effect.succeedSome(receipt)),
      isFirst,
      searchFor: Duration.seconds(10)
    })
  )
  yield* TestClock.adjust("10 seconds")
  const answer = yield* Fiber.join(search)
  return reasons.length === 0 ? { answer, states } : { answer, states, reasons }
})

describe("a search for a receipt", () => {
  it.effect("changes no state when all that it asked answered", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* searched({}), { answer: receipt, states: [] })
    })
  )

  it.effect("ends a wait that began before it, as when its key was silent or its process died", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* searched({ isRetrying: true }), { answer: receipt, states: ["running"] })
    })
  )

  it.effect("says that it waits when the broadcast was refused, and that it goes on once the receipt is there", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* searched({ broadcast: Effect.fail(unavailable) }), {
        answer: receipt,
        states: ["retrying", "running"]
      })
    })
  )

  it.effect("says that it waits while the chain does not answer", () =>
    Effect.gen(function* () {
      let asked = 0
      const find: FindReceipt = () =>
        Effect.suspend(() => (++asked === 1 ? Effect.fail(unavailable) : Effect.succeedSome(receipt)))
      assert.deepStrictEqual(yield* searched({ find }), { answer: receipt, states: ["retrying", "running"] })
    })
  )

  const silence = { answer: null, states: ["retrying"] }
  const why = (reason: string) => [["receipt_waits", { reason }]]

  it.effect("leaves its operation waiting when there is no receipt in its time, and says why", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* searched({ find: () => Effect.succeedNone }), {
        ...silence,
        reasons: why("chain 8453 has not shown yet what became of it")
      })
    })
  )

  it.effect("says why in the words of the chain where it has some, and once for all searches of an attempt", () =>
    Effect.gen(function* () {
      const find: FindReceipt = () => Effect.fail(unavailable)
      const first = yield* searched({ find })
      assert.deepStrictEqual([first.answer, first.reasons], [null, why("Chain 8453 is unavailable: no answer")])
      assert.deepStrictEqual(yield* searched({ find: () => Effect.succeedNone, isFirst: false }), silence)
    })
  )
})
