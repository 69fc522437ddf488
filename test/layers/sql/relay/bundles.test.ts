/** Transactions that include several attempts, in the store: who includes what is decided once. */
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { type AttemptId, type RelayedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, base, newAddress, noon, submit, world } from "#test/layers/sql/fixtures.ts"

const bytes32 = (value: number) => `0x${value.toString(16).padStart(64, "0")}`

let drawn = 0

/** The first attempt of a new operation, with a hash of its own. */
const newAction = Effect.gen(function* () {
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submit(tenantId, portfolioId)
  const action: RelayedAction = {
    attempt: { operationId, chainId: base, attempt: 1 },
    prepared: {
      _tag: "Evm",
      chainId: base,
      accountId: evmAccount(base, newAddress()),
      actionHash: bytes32(++drawn),
      to: newAddress(),
      callData: "0x",
      gasLimit: 1n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      chainNonce: 0,
      laneNonces: [],
      fromBlock: BigInt(drawn)
    }
  }
  return action
})

const newActions = (count: number) =>
  Effect.map(Effect.replicateEffect(newAction, count), (actions) => actions as [RelayedAction, ...Array<RelayedAction>])

const signing = (relayer: EvmAddress) => (nonce: number) =>
  Effect.succeed<SignedTransaction>({
    chainId: base,
    actionHash: bytes32(0),
    relayer,
    nonce,
    txHash: bytes32(nonce + 1),
    raw: `0x02${nonce.toString(16).padStart(8, "0")}`,
    fromBlock: 1n,
    replaces: []
  })

const reserve = (actions: readonly [RelayedAction, ...ReadonlyArray<RelayedAction>], relayer: EvmAddress) =>
  Effect.flatMap(RelayStore, (store) =>
    store.reserve(actions, { accounts: [relayer], at: noon, sign: signing(relayer) })
  )

const sent = (attempt: AttemptId) =>
  Effect.flatMap(RelayStore, (store) => Effect.map(store.sent(attempt), Option.getOrThrow))

eachDatabase("A transaction of several attempts", (it) => {
  it.effect("has one nonce, and each attempt finds in it its own hash and the block to search from", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const actions = yield* newActions(3)
      assert.isTrue(yield* reserve(actions, relayer))
      for (const { attempt, prepared } of actions) {
        const { transaction } = yield* sent(attempt)
        assert.deepInclude(transaction, {
          actionHash: prepared.actionHash,
          fromBlock: prepared.fromBlock,
          nonce: 0,
          actionCount: 3,
          txHash: bytes32(1)
        })
      }
      const attempts = actions.map(({ attempt }) => attempt)
      const unknown = { ...attempts[0]!, attempt: 9 }
      assert.deepStrictEqual(yield* store.signed([unknown, ...attempts]), attempts)
      const [next] = yield* newActions(1)
      assert.isTrue(yield* reserve([next], relayer))
      assert.strictEqual((yield* sent(next.attempt)).transaction.nonce, 1)
    })
  )

  it.effect("is not made when one of them was signed before: nothing is stored and no nonce is used", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const [first, second, third] = yield* newActions(3)
      yield* reserve([second!], relayer)
      assert.isFalse(yield* reserve([first, second!, third!], relayer))
      assert.isTrue(Option.isNone(yield* store.sent(first.attempt)))
      assert.isTrue(yield* reserve([first, third!], relayer))
      assert.strictEqual((yield* sent(third!.attempt)).transaction.nonce, 1)
    })
  )

  it.effect("is made once of many that overlap: every attempt is included once, and no nonce is without one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const relayer = newAddress()
      const actions = yield* newActions(12)
      const overlapping = actions.map(
        (action, index) => [action, actions[(index + 1) % 12]!, actions[(index + 5) % 12]!] as const
      )
      const answers = yield* Effect.forEach(overlapping, (group) => reserve(group, relayer), {
        concurrency: "unbounded"
      })
      const groups = answers.filter((isSigned) => isSigned).length
      assert.isAtLeast(groups, 2)
      const alone = yield* Effect.forEach(actions, (action) => reserve([action], relayer), { concurrency: 4 })
      const lone = alone.filter((isSigned) => isSigned).length
      assert.strictEqual(groups * 3 + lone, 12)
      const rows = yield* sql<{ readonly nonce: bigint; readonly actionCount: number; readonly actions: number }>`
        SELECT t.nonce, t.action_count AS "actionCount", (SELECT count(*)::int FROM relayed_actions a
          WHERE (a.chain_id, a.relayer, a.nonce) = (t.chain_id, t.relayer, t.nonce)) AS actions
        FROM relayed_transactions t WHERE t.relayer = ${relayer} ORDER BY t.nonce`
      assert.deepStrictEqual(
        rows.map(({ nonce }) => Number(nonce)),
        Array.from({ length: groups + lone }, (_, nonce) => nonce)
      )
      for (const { actions: stored, actionCount } of rows) assert.strictEqual(stored, actionCount)
    })
  )

  it.effect("is not signed for an operation that has ended, and its nonce is given out again", () =>
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const relayer = newAddress()
      const [ended, open] = yield* newActions(2)
      for (const state of ["running", "completed"] as const)
        yield* operations.transition({ operationId: ended.attempt.operationId, to: state, at: noon, error: null })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(reserve([ended, open!], relayer))))
      assert.isTrue(yield* reserve([open!], relayer))
      assert.strictEqual((yield* sent(open!.attempt)).transaction.nonce, 0)
    })
  )

  it.effect("is replaced as one, for all that it includes", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const actions = yield* newActions(3)
      yield* reserve(actions, relayer)
      const before = yield* sent(actions[1]!.attempt)
      const { actionHash } = actions[1]!.prepared
      const raised = { ...before.transaction, txHash: bytes32(0xbeef), raw: "0x02be", replaces: [bytes32(1)] }
      yield* store.replace(before, after(1), Effect.succeed(raised))
      for (const { attempt, prepared } of actions) {
        const { signedAt, transaction } = yield* sent(attempt)
        assert.deepInclude(transaction, {
          actionHash: prepared.actionHash,
          txHash: bytes32(0xbeef),
          replaces: [bytes32(1)]
        })
        assert.deepStrictEqual(signedAt, after(1))
      }
      const head = Option.getOrThrow(yield* store.atNonce(base, relayer, 0))
      assert.strictEqual(head.transaction.txHash, bytes32(0xbeef))
      const late = yield* store.replace(before, after(2), Effect.die(new Error(`signed twice for ${actionHash}`)))
      assert.strictEqual(late.txHash, bytes32(0xbeef))
    })
  )

  it.effect("counts as one when the least busy relayer is chosen, however much it includes", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const accounts = [newAddress(), newAddress()] as const
      const take = Effect.fnUntraced(function* (count: number) {
        const actions = yield* newActions(count)
        yield* store.reserve(actions, { accounts, at: noon, sign: (nonce, account) => signing(account)(nonce) })
        return (yield* sent(actions[0].attempt)).transaction.relayer
      })
      assert.deepStrictEqual(yield* Effect.forEach([5, 1, 1], take), [accounts[0], accounts[1], accounts[0]])
    })
  )
})
