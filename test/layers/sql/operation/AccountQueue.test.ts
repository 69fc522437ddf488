/** Who acts for an account, while many ask at once, end, crash and leave. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { SqlClient } from "effect/sql"
import { timestamp } from "#layers/sql/rows.ts"
import { after, arbitrum, base, noon, world } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

/** A portfolio with so many operations that were accepted in this order. */
const withOperations = Effect.fnUntraced(function* (count: number) {
  const { portfolioId, tenantId } = yield* world()
  const sql = yield* SqlClient.SqlClient
  const operations = yield* Effect.replicateEffect(makeOperationId, count)
  const ids = operations.toSorted()
  for (const operationId of ids) {
    yield* sql`
      INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
        last_sequence)
      VALUES (${operationId}, ${tenantId}, ${portfolioId}, 'swap', 'manual', 'accepted', ${timestamp(noon)},
        ${timestamp(noon)}, 0)`
  }
  const queue = yield* AccountQueue
  const store = yield* OperationStore
  return {
    ids,
    acquire: (operationId: OperationId, chainId: ChainId = base, isUrgent = false) =>
      Effect.map(queue.acquire({ operationId, chainId, isUrgent }), ({ state }) => state),
    ahead: (operationId: OperationId) =>
      Effect.map(queue.acquire({ operationId, chainId: base }), ({ ahead }) => ahead),
    release: (operationId: OperationId, chainId: ChainId = base) => queue.release({ operationId, chainId }),
    end: (operationId: OperationId) =>
      store.transition({ operationId, to: "failed", at: after(1), error: "its process died" })
  }
})

eachDatabase("AccountQueue", (it) => {
  it.effect("is one operation's at a time, and those that wait follow in the order of their submission", () =>
    Effect.gen(function* () {
      const { acquire, ahead, ids, release } = yield* withOperations(3)
      const [first, second, third] = ids as [OperationId, OperationId, OperationId]
      assert.strictEqual(yield* acquire(first), "acquired")
      assert.strictEqual(yield* acquire(first), "acquired")
      assert.strictEqual(yield* acquire(third), "joined")
      assert.strictEqual(yield* acquire(second), "joined")
      assert.strictEqual(yield* acquire(third), "waiting")
      assert.deepStrictEqual([yield* ahead(first), yield* ahead(second), yield* ahead(third)], [0, 0, 1])
      yield* release(third)
      assert.strictEqual(yield* acquire(second), "waiting")
      yield* release(first)
      assert.strictEqual(yield* acquire(third), "waiting")
      assert.strictEqual(yield* acquire(second), "acquired")
      yield* release(second)
      assert.strictEqual(yield* acquire(third), "acquired")
    })
  )

  it.effect(
    "is free when its operation has ended, whatever it left behind, and those that have ended do not wait",
    () =>
      Effect.gen(function* () {
        const { acquire, end, ids } = yield* withOperations(3)
        const [first, second, third] = ids as [OperationId, OperationId, OperationId]
        yield* acquire(first)
        yield* acquire(second)
        yield* acquire(third)
        yield* end(first)
        yield* end(second)
        assert.strictEqual(yield* acquire(third), "acquired")
      })
  )

  it.effect("goes to the owner's signature before all that wait, and is not taken from who has it", () =>
    Effect.gen(function* () {
      const { acquire, ids, release } = yield* withOperations(3)
      const [first, second, third] = ids as [OperationId, OperationId, OperationId]
      yield* acquire(first)
      yield* acquire(second)
      assert.strictEqual(yield* acquire(third, base, true), "joined")
      assert.strictEqual(yield* acquire(first), "acquired")
      yield* release(first)
      assert.strictEqual(yield* acquire(second), "waiting")
      assert.strictEqual(yield* acquire(third, base, true), "acquired")
    })
  )

  it.effect("is of a portfolio and a chain: others do not wait", () =>
    Effect.gen(function* () {
      const one = yield* withOperations(2)
      const other = yield* withOperations(1)
      assert.strictEqual(yield* one.acquire(one.ids[0]!), "acquired")
      assert.strictEqual(yield* one.acquire(one.ids[1]!, arbitrum), "acquired")
      assert.strictEqual(yield* other.acquire(other.ids[0]!), "acquired")
    })
  )

  it.effect("is one operation's also when twenty ask at once, and all come to their turn", () =>
    Effect.gen(function* () {
      const { acquire, end, ids } = yield* withOperations(20)
      const left = new Set(ids)
      const order: Array<OperationId> = []
      while (left.size > 0) {
        const answers = yield* Effect.forEach(
          [...left],
          (id) => Effect.map(acquire(id), (answer) => [id, answer] as const),
          { concurrency: "unbounded" }
        )
        const acquired = answers.flatMap(([id, answer]) => (answer === "acquired" ? [id] : []))
        assert.lengthOf(acquired, 1)
        order.push(acquired[0]!)
        left.delete(acquired[0]!)
        yield* end(acquired[0]!)
      }
      assert.deepStrictEqual(
        order.slice(1),
        ids.filter((id) => id !== order[0])
      )
    })
  )
})
