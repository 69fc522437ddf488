/** Whoever has the turn of a relayer's account signs and stores for all that wait for it in the same process. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { type RelayedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, base, newAddress, noon } from "#test/layers/sql/fixtures.ts"
import {
  newAction,
  otherProcess,
  type RelayerAddresses,
  reserve,
  sent,
  signed,
  slowKey
} from "#test/layers/sql/relay/relaying.ts"

/** Lets so many wait for an account while the key signs for the first one. */
const behindASlowOne = Effect.fnUntraced(function* (count: number) {
  const accounts: RelayerAddresses = [newAddress()]
  const [first, waiting] = [yield* newAction(), yield* Effect.replicateEffect(newAction(), count)]
  const key = yield* slowKey
  const signing = yield* Effect.forkChild(key.reserveWith(yield* RelayStore, first, accounts))
  yield* key.asked
  return { accounts, first, key, signing, waiting }
})

/** They ask in this order. */
const askAll = Effect.fnUntraced(function* (
  actions: ReadonlyArray<RelayedAction>,
  ask: (action: RelayedAction) => ReturnType<RelayStore["Service"]["reserve"]>
) {
  return yield* Effect.forEach(actions, (action) => Effect.forkChild(ask(action), { startImmediately: true }))
})

/** Reads by nonce how many commits stored what, and which nonces have bytes. */
const stored = Effect.fnUntraced(function* (relayer: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly nonce: number; readonly commit: string }>`
    SELECT nonce::int AS nonce, xmin::text AS commit FROM relayed_transactions WHERE relayer = ${relayer}
    ORDER BY nonce`
  return { nonces: rows.map(({ nonce }) => nonce), commits: new Set(rows.map(({ commit }) => commit)).size }
})

const noncesOf = (actions: ReadonlyArray<RelayedAction>) =>
  Effect.forEach(actions, ({ attempt }) =>
    Effect.map(
      sent(attempt),
      Option.map(({ nonce }) => nonce)
    )
  )

eachDatabase("A turn of a relayer's account", (it) => {
  it.effect("is enough for seven that wait: their key is asked for all at once, and one commit stores them", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(7)
      const allAsked = yield* Deferred.make<void>()
      const nonces: Array<number> = []
      const askedTogether = (action: RelayedAction) =>
        store.reserve([action], {
          accounts,
          at: noon,
          sign: (nonce, account) =>
            Effect.gen(function* () {
              // None of them is answered before all of them have been asked.
              if (nonces.push(nonce) === 7) yield* Deferred.succeed(allAsked, undefined)
              yield* Deferred.await(allAsked)
              return yield* signed(action.prepared, nonce, account)
            })
        })
      const asking = yield* askAll(waiting, askedTogether)
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      assert.deepStrictEqual(
        yield* Effect.forEach(asking, Fiber.join),
        waiting.map(() => true)
      )
      assert.deepStrictEqual(yield* stored(accounts[0]), { nonces: [0, 1, 2, 3, 4, 5, 6, 7], commits: 2 })
      assert.deepStrictEqual(
        yield* noncesOf(waiting),
        waiting.map((_, index) => Option.some(index + 1))
      )
    })
  )

  it.effect("stores eight at most, so that a hundred at once take some turns and get a hundred nonces in a row", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(99)
      const asking = yield* askAll(waiting, (action) => reserve(store, action, accounts))
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      yield* Effect.forEach(asking, Fiber.join)
      const { commits, nonces } = yield* stored(accounts[0])
      assert.deepStrictEqual(
        nonces,
        Array.from({ length: 100 }, (_, nonce) => nonce)
      )
      assert.strictEqual(commits, 1 + Math.ceil(99 / 8))
    })
  )

  it.effect("leaves out what has ended meanwhile and what another process has signed: the others are stored", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(4)
      const [ended, elsewhere, ...others] = waiting
      const asking = yield* askAll(waiting, (action) => reserve(store, action, accounts))
      yield* (yield* OperationStore).transition({
        operationId: ended!.attempt.operationId,
        to: "cancelled",
        at: after(1),
        error: "stopped"
      })
      const another = newAddress()
      assert.isTrue(yield* reserve(yield* otherProcess, elsewhere!, [another]))
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      const exits = yield* Effect.forEach(asking, Fiber.await)
      assert.isTrue(Exit.hasDies(exits[0]!))
      assert.deepStrictEqual(exits.slice(1), [Exit.succeed(false), Exit.succeed(true), Exit.succeed(true)])
      assert.deepStrictEqual(yield* sent(ended!.attempt), Option.none())
      assert.deepStrictEqual(yield* sent(elsewhere!.attempt), Option.some({ nonce: 0, relayer: another }))
      assert.deepStrictEqual(yield* noncesOf(others), [Option.some(1), Option.some(2)])
      assert.deepStrictEqual((yield* stored(accounts[0])).nonces, [0, 1, 2])
    })
  )

  it.effect("stores the others when the key refuses one of them, and no nonce is without bytes", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(3)
      const refused = waiting[1]!
      const refusal = new ChainUnavailable({ chainId: base, reason: "the key does not sign this" })
      const asking = yield* askAll(waiting, (action) =>
        store.reserve([action], {
          accounts,
          at: noon,
          sign: (nonce, account) =>
            action === refused ? Effect.fail(refusal) : signed(action.prepared, nonce, account)
        })
      )
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      const answers = yield* Effect.forEach(asking, (one) => Effect.result(Fiber.join(one)))
      assert.deepStrictEqual(answers, [Result.succeed(true), Result.fail(refusal), Result.succeed(true)])
      assert.deepStrictEqual(yield* noncesOf(waiting), [Option.some(1), Option.none(), Option.some(2)])
      assert.deepStrictEqual((yield* stored(accounts[0])).nonces, [0, 1, 2])
    })
  )

  it.effect("whose key does not answer fails for all of them at once, and leaves the nonce", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(7)
      const silence = new ChainUnavailable({ chainId: base, reason: "the key gave no answer" })
      let asked = 0
      const asking = yield* askAll(waiting, (action) =>
        store.reserve([action], {
          accounts,
          at: noon,
          sign: () =>
            Effect.suspend(() => {
              asked += 1
              return Effect.fail(silence)
            })
        })
      )
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      for (const one of asking) assert.deepStrictEqual(yield* Effect.flip(Fiber.join(one)), silence)
      assert.strictEqual(asked, 7, "nobody is asked twice")
      yield* Effect.forEach(waiting, (action) => reserve(store, action, accounts))
      assert.deepStrictEqual((yield* stored(accounts[0])).nonces, [0, 1, 2, 3, 4, 5, 6, 7])
    })
  )

  it.effect("in which one has a defect stores the others", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(3)
      const asking = yield* askAll(waiting, (action) =>
        action === waiting[0]
          ? store.reserve([action], { accounts, at: noon, sign: () => Effect.die(new Error("a defect")) })
          : reserve(store, action, accounts)
      )
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      assert.isTrue(Exit.hasDies(yield* Fiber.await(asking[0]!)))
      assert.deepStrictEqual(yield* noncesOf(waiting), [Option.none(), Option.some(1), Option.some(2)])
    })
  )

  it.effect("that is broken off tells those it was for, who are signed when they ask again", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(3)
      const asked = yield* Deferred.make<void>()
      const hanging = (action: RelayedAction) =>
        store.reserve([action], {
          accounts,
          at: noon,
          sign: () => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
        })
      const [leading, ...others] = yield* askAll(waiting, hanging)
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(leading!)
      for (const other of others) {
        const failure = yield* Effect.flip(Fiber.join(other))
        assert.strictEqual(failure._tag, "ChainUnavailable")
        assert.include(failure.message, "was broken off")
      }
      yield* Effect.forEach(waiting, (action) => reserve(store, action, accounts))
      assert.deepStrictEqual((yield* stored(accounts[0])).nonces, [0, 1, 2, 3])
    })
  )

  it.effect("has no place for one that no longer waits: nothing is signed for it", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const { accounts, key, signing, waiting } = yield* behindASlowOne(2)
      const [gone, other] = waiting
      const [leaving, staying] = yield* askAll(waiting, (action) => reserve(store, action, accounts))
      yield* Fiber.interrupt(leaving!)
      yield* Deferred.succeed(key.go, undefined)
      assert.isTrue(yield* Fiber.join(signing))
      assert.isTrue(yield* Fiber.join(staying!))
      assert.deepStrictEqual(yield* sent(gone!.attempt), Option.none())
      assert.deepStrictEqual(yield* noncesOf([other!]), [Option.some(1)])
    })
  )
})
