/** Nothing is locked while a key signs, and each nonce is used once all the same: the turns of a relayer's accounts. */
import { assert } from "@effect/vitest"
import { Context, DateTime, Deferred, Duration, Effect, Exit, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { BundleSigner } from "#domain/relay/BundleSigner.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, arbitrum, base, newAddress, noon } from "#test/layers/sql/fixtures.ts"
import {
  bytes32,
  newAction,
  otherProcess,
  type RelayerAddresses,
  reserve,
  sent,
  signed,
  slowKey
} from "#test/layers/sql/relay/relaying.ts"

const letGo = (relayer: EvmAddress) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE relayer_nonces SET held_until = ${DateTime.toDateUtc(noon)} WHERE relayer = ${relayer}`
  )

eachDatabase("A key that signs for long", (it) => {
  it.effect("holds no lock and no transaction, and neither another account nor another chain waits for it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RelayStore
      const [first, second] = [newAddress(), newAddress()]
      const [slow, other, elsewhere] = [yield* newAction(), yield* newAction(), yield* newAction(arbitrum)]
      const key = yield* slowKey
      const signing = yield* Effect.forkChild(key.reserveWith(store, slow, [first, second]))
      assert.strictEqual(yield* key.asked, 0)
      if (!(yield* DatabaseInfo).isEmbedded) {
        const [held] = yield* sql<{ readonly idle: number; readonly locks: number }>`
          SELECT (SELECT count(*)::int FROM pg_stat_activity
              WHERE datname = current_database() AND state LIKE 'idle in transaction%') AS idle,
            (SELECT count(*)::int FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
              WHERE c.relname LIKE 'relay%' AND l.pid <> pg_backend_pid()) AS locks`
        assert.deepStrictEqual(held, { idle: 0, locks: 0 })
      }
      // Both would wait for the slow one if anything of it were locked.
      yield* sql`UPDATE relayer_nonces SET next = next WHERE relayer = ${first}`
      assert.isTrue(yield* reserve(store, other, [first, second]))
      assert.isTrue(yield* reserve(store, elsewhere, [first]))
      assert.deepStrictEqual(yield* sent(other.attempt), Option.some({ nonce: 0, relayer: second }))
      assert.deepStrictEqual(yield* sent(elsewhere.attempt), Option.some({ nonce: 0, relayer: first }))
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.none())
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.some({ nonce: 0, relayer: first }))
    })
  )

  it.effect("lets the next group of its chain go to another account", () =>
    Effect.gen(function* () {
      const [first, second] = [newAddress(), newAddress()]
      const asked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const relayer = Layer.mock(Relayer, {
        address: first,
        accounts: [first, second],
        sign: (transaction, nonce, account = first) =>
          (account === first
            ? Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(go))
            : Effect.void
          ).pipe(Effect.andThen(signed(transaction, nonce, account)))
      })
      const signer = BundleSigner.layer.pipe(
        Layer.provide([relayer, Layer.mock(UserOperations, {}), Layer.succeed(Chains, { supported: [base] })])
      )
      const { sign } = Context.get(yield* Layer.build(signer), BundleSigner)
      const [slow, quick] = [yield* newAction(), yield* newAction()]
      const signing = yield* Effect.forkChild(sign(slow))
      yield* Deferred.await(asked)
      yield* sign(quick)
      assert.deepStrictEqual(yield* sent(quick.attempt), Option.some({ nonce: 0, relayer: second }))
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.none())
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(signing)
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.some({ nonce: 0, relayer: first }))
    })
  )

  for (const { name, storeOfNext } of [
    { name: "in this process", storeOfNext: RelayStore },
    { name: "in another process", storeOfNext: otherProcess }
  ]) {
    /** A key is asked for the first of two actions, and the second one waits for the same account. */
    const oneBehindTheOther = Effect.gen(function* () {
      const accounts: RelayerAddresses = [newAddress()]
      const [slow, next] = [yield* newAction(), yield* newAction()]
      const key = yield* slowKey
      const signing = yield* Effect.forkChild(key.reserveWith(yield* RelayStore, slow, accounts))
      yield* key.asked
      const waiting = yield* Effect.forkChild(reserve(yield* storeOfNext, next, accounts))
      return { accounts, key, next, signing, slow, waiting }
    })

    it.effect(`hands its account to the next ${name}, with the next nonce`, () =>
      Effect.gen(function* () {
        const { accounts, key, next, signing, slow, waiting } = yield* oneBehindTheOther
        yield* Deferred.succeed(key.go, undefined)
        assert.isTrue(yield* Fiber.join(signing))
        assert.isTrue(yield* Fiber.join(waiting))
        assert.deepStrictEqual(yield* sent(slow.attempt), Option.some({ nonce: 0, relayer: accounts[0] }))
        assert.deepStrictEqual(yield* sent(next.attempt), Option.some({ nonce: 1, relayer: accounts[0] }))
        assert.deepStrictEqual(key.nonces, [0])
      })
    )

    it.effect(`that refuses in the end leaves its nonce to the next ${name}`, () =>
      Effect.gen(function* () {
        const { accounts, key, next, signing, slow, waiting } = yield* oneBehindTheOther
        const refusal = new ChainUnavailable({ chainId: base, reason: "the key gave no signature" })
        yield* Deferred.fail(key.go, refusal)
        assert.deepStrictEqual(yield* Effect.flip(Fiber.join(signing)), refusal)
        assert.isTrue(yield* Fiber.join(waiting))
        assert.deepStrictEqual(yield* sent(next.attempt), Option.some({ nonce: 0, relayer: accounts[0] }))
        assert.deepStrictEqual(yield* sent(slow.attempt), Option.none())
      })
    )
  }

  it.effect("and whose process ends leaves its nonce to others once its time has passed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts: RelayerAddresses = [newAddress()]
      const action = yield* newAction()
      const until = DateTime.toDateUtc(DateTime.addDuration(yield* DateTime.now, Duration.millis(200)))
      yield* sql`
        INSERT INTO relayer_nonces (chain_id, relayer, next, held_by, held_until)
        VALUES (${base}, ${accounts[0]}, 4, 'a process that is gone', ${until})`
      assert.isTrue(yield* reserve(yield* RelayStore, action, accounts))
      assert.isTrue(DateTime.toEpochMillis(yield* DateTime.now) >= until.getTime())
      assert.deepStrictEqual(yield* sent(action.attempt), Option.some({ nonce: 4, relayer: accounts[0] }))
    })
  )

  it.effect("past its time signs again with the next nonce when another process was first to store", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts: RelayerAddresses = [newAddress()]
      const [slow, quick] = [yield* newAction(), yield* newAction()]
      const key = yield* slowKey
      const signing = yield* Effect.forkChild(key.reserveWith(yield* RelayStore, slow, accounts))
      yield* key.asked
      yield* letGo(accounts[0])
      assert.isTrue(yield* reserve(yield* otherProcess, quick, accounts))
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      assert.deepStrictEqual(key.nonces, [0, 1])
      assert.deepStrictEqual(yield* sent(quick.attempt), Option.some({ nonce: 0, relayer: accounts[0] }))
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.some({ nonce: 1, relayer: accounts[0] }))
      const stored = yield* sql`SELECT 1 FROM relayed_transactions WHERE relayer = ${accounts[0]}`
      assert.lengthOf(stored, 2)
    })
  )

  it.effect("past its time keeps its nonce when it is first to store, and the other process signs with the next", () =>
    Effect.gen(function* () {
      const accounts: RelayerAddresses = [newAddress()]
      const [slow, later] = [yield* newAction(), yield* newAction()]
      const [key, laterKey] = [yield* slowKey, yield* slowKey]
      const signing = yield* Effect.forkChild(key.reserveWith(yield* RelayStore, slow, accounts))
      yield* key.asked
      yield* letGo(accounts[0])
      const other = yield* Effect.forkChild(laterKey.reserveWith(yield* otherProcess, later, accounts))
      assert.strictEqual(yield* laterKey.asked, 0)
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      yield* Deferred.succeed(laterKey.go, undefined)
      assert.isTrue(yield* Fiber.join(other))
      assert.deepStrictEqual(laterKey.nonces, [0, 1])
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.some({ nonce: 0, relayer: accounts[0] }))
      assert.deepStrictEqual(yield* sent(later.attempt), Option.some({ nonce: 1, relayer: accounts[0] }))
    })
  )

  it.effect("stores nothing for an operation that ended meanwhile, and its nonce goes to the next", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const operations = yield* OperationStore
      const accounts: RelayerAddresses = [newAddress()]
      const [slow, next] = [yield* newAction(), yield* newAction()]
      const key = yield* slowKey
      const signing = yield* Effect.forkChild(Effect.exit(key.reserveWith(store, slow, accounts)))
      yield* key.asked
      yield* operations.transition({
        operationId: slow.attempt.operationId,
        to: "cancelled",
        at: after(1),
        error: "stopped"
      })
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(Exit.hasDies(yield* Fiber.join(signing)))
      assert.deepStrictEqual(yield* sent(slow.attempt), Option.none())
      assert.isTrue(yield* reserve(store, next, accounts))
      assert.deepStrictEqual(yield* sent(next.attempt), Option.some({ nonce: 0, relayer: accounts[0] }))
    })
  )

  it.effect("for a replacement locks nothing, and what another process stored meanwhile is the answer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RelayStore
      const accounts: RelayerAddresses = [newAddress()]
      const action = yield* newAction()
      yield* reserve(store, action, accounts)
      const stored = Option.getOrThrow(yield* store.sent(action.attempt))
      const raised = (txHash: string) => ({ ...stored.transaction, txHash, replaces: [stored.transaction.txHash] })
      const asked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const slow = Deferred.succeed(asked, undefined).pipe(
        Effect.andThen(Deferred.await(go)),
        Effect.as(raised(bytes32(0xaaaa)))
      )
      const replacing = yield* Effect.forkChild(store.replace(stored, after(1), slow))
      yield* Deferred.await(asked)
      yield* sql`UPDATE relayed_transactions SET action_count = action_count WHERE relayer = ${accounts[0]}`
      const quick = yield* (yield* otherProcess).replace(stored, after(2), Effect.succeed(raised(bytes32(0xbbbb))))
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(replacing), quick)
      assert.strictEqual(quick.txHash, bytes32(0xbbbb))
      assert.deepStrictEqual(Option.getOrThrow(yield* store.sent(action.attempt)).transaction, quick)
    })
  )
})
