/** The operator's switch: each change is one unit with what discovery lists, and exact among many at once. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import * as Ids from "#domain/values/Ids.ts"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { type BrokenHeads, type MirrorabilityChange, MirrorabilityStore } from "#domain/strategy/MirrorabilityStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { insertStrategy, insertTenant, newAddress, noon } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

interface Flags {
  readonly isPublic: boolean
  readonly canMirror: boolean
}

/** A tenant that an address owns, with a strategy for each of the flags. */
const ownedBy = Effect.fnUntraced(function* (owner: string, flags: ReadonlyArray<Flags>) {
  const sql = yield* SqlClient.SqlClient
  const tenantId = yield* insertTenant
  yield* sql`UPDATE tenants SET owner_address = ${owner} WHERE tenant_id = ${tenantId}`
  const ids: Array<Ids.StrategyId> = []
  for (const { canMirror, isPublic } of flags) {
    const { strategyId } = yield* insertStrategy(tenantId)
    yield* sql`
      UPDATE strategies SET is_public = ${isPublic}, can_mirror = ${canMirror} WHERE strategy_id = ${strategyId}`
    ids.push(strategyId)
  }
  return { tenantId, ids: ids.toSorted() }
})

/** Reads of each strategy what its row says and whether discovery lists it. */
const stateOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Flags & { readonly strategy_id: Ids.StrategyId; readonly isListed: boolean }>`
    SELECT s.strategy_id, s.is_public AS "isPublic", s.can_mirror AS "canMirror",
    e.strategy_id IS NOT NULL AS "isListed"
    FROM strategies s LEFT JOIN discovery_entries e ON e.strategy_id = s.strategy_id
    WHERE s.strategy_id = ANY(${ids}::text[]) ORDER BY s.strategy_id`
})

/** What is meant, written once more without SQL. */
const oracle = (rows: ReadonlyArray<Flags & { readonly strategy_id: Ids.StrategyId }>, change: MirrorabilityChange) => {
  const isPublic = change.isPublic ?? true
  const eligible = rows.filter((row) => row.isPublic)
  const isSet = (row: Flags) => row.canMirror === change.canMirror && row.isPublic === isPublic
  return {
    answer: {
      ownedCount: rows.length,
      skippedPrivateCount: rows.length - eligible.length,
      alreadySet: eligible.filter(isSet).map((row) => row.strategy_id),
      updated: eligible.filter((row) => !isSet(row)).map((row) => row.strategy_id)
    },
    after: rows.map((row) => (row.isPublic ? { ...row, canMirror: change.canMirror, isPublic } : row))
  }
}

/** Makes as many public strategies that may not be mirrored. */
const open = (count: number): ReadonlyArray<Flags> =>
  Array.from({ length: count }, () => ({ isPublic: true, canMirror: false }))

const flags = fc.array(fc.record({ isPublic: fc.boolean(), canMirror: fc.boolean() }), { maxLength: 6 })
const change = fc.record({ canMirror: fc.boolean(), isPublic: fc.boolean() }, { requiredKeys: ["canMirror"] })

const address = () => newAddress() as string as OwnerAddress
const solana = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU" as OwnerAddress

const flagsOf = ({ canMirror, isPublic }: Flags): Flags => ({ canMirror, isPublic })

const assertListed = (rows: ReadonlyArray<Flags & { readonly isListed: boolean }>) => {
  for (const row of rows) assert.strictEqual(row.isListed, row.isPublic && row.canMirror)
}

eachDatabase("MirrorabilityStore", (it) => {
  it.effect(
    "any change of any owner's strategies answers the exact lists, once more changes nothing, others stay",
    () =>
      Effect.gen(function* () {
        const store = yield* MirrorabilityStore
        const other = yield* ownedBy(address(), [{ isPublic: true, canMirror: false }])
        const untouched = yield* stateOf(other.ids)
        const isExact = Effect.fnUntraced(function* (made: ReadonlyArray<Flags>, asked: MirrorabilityChange) {
          const owner = address()
          const { ids } = yield* ownedBy(owner, made)
          const expected = oracle(yield* stateOf(ids), asked)
          assert.deepStrictEqual(yield* store.setOwned(owner, asked), expected.answer)
          const after = yield* stateOf(ids)
          assert.deepStrictEqual(after.map(flagsOf), expected.after.map(flagsOf))
          assertListed(after)
          assert.deepStrictEqual((yield* store.setOwned(owner, asked)).updated, [])
          assert.deepStrictEqual(yield* stateOf(ids), after)
        })
        const context = yield* Effect.context<Effect.Services<ReturnType<typeof isExact>>>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(flags, change, (made, asked) => Effect.runPromiseWith(context)(isExact(made, asked))),
            { numRuns: 20 }
          )
        )
        assert.deepStrictEqual(yield* stateOf(other.ids), untouched)
      })
  )

  it.effect("a tenant is owned by the named account and by each wallet that is an owner, EVM or Solana", () =>
    Effect.gen(function* () {
      const store = yield* MirrorabilityStore
      const sql = yield* SqlClient.SqlClient
      const { ids, tenantId } = yield* ownedBy(address(), [{ isPublic: true, canMirror: false }])
      const [key, contract, viewer] = [address(), address(), address()]
      const members = [
        [`eip155:0:${key}`, "owner"],
        [`eip155:8453:${contract}`, "owner"],
        [`solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${solana}`, "owner"],
        [`eip155:0:${viewer}`, "viewer"]
      ] as const
      for (const [walletId, role] of members) {
        const userId = yield* Ids.makeUserId
        yield* sql`INSERT INTO users (user_id, wallet_id, created_at)
          VALUES (${userId}, ${walletId}, ${new Date(noon.epochMilliseconds)})`
        yield* sql`
          INSERT INTO tenant_members (tenant_id, user_id, role, joined_at)
          VALUES (${tenantId}, ${userId}, ${role}, ${new Date(noon.epochMilliseconds)})`
      }
      for (const [owner, canMirror] of [
        [key, true],
        [contract, false],
        [solana, true]
      ] as const) {
        assert.deepStrictEqual(yield* store.setOwned(owner, { canMirror }), {
          ownedCount: 1,
          skippedPrivateCount: 0,
          alreadySet: [],
          updated: ids
        })
      }
      for (const stranger of [viewer, address()])
        assert.strictEqual((yield* store.setOwned(stranger, { canMirror: false })).ownedCount, 0)
      assertListed(yield* stateOf(ids))
    })
  )

  it.effect("a strategy is named by its number as by its id", () =>
    Effect.gen(function* () {
      const store = yield* MirrorabilityStore
      const sql = yield* SqlClient.SqlClient
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      const [row] = yield* sql<{ readonly number: bigint }>`
        SELECT strategy_number AS number FROM strategies WHERE strategy_id = ${strategyId}`
      const set = { blueprintId: strategyId, canMirror: true, isPublic: true }
      assert.deepStrictEqual(
        yield* store.set({ kind: "number", number: BigInt(row!.number) }, { canMirror: true }),
        Option.some(set)
      )
      assert.deepStrictEqual(yield* store.set({ kind: "id", strategyId }, { canMirror: true }), Option.some(set))
      assert.deepStrictEqual(
        yield* store.set({ kind: "number", number: 2n ** 59n }, { canMirror: true }),
        Option.none()
      )
    })
  )

  it.effect("a head version that does not exist is found before anything is changed", () =>
    Effect.gen(function* () {
      const store = yield* MirrorabilityStore
      const sql = yield* SqlClient.SqlClient
      const owner = address()
      const { ids } = yield* ownedBy(owner, open(5))
      const broken = ids[3]!
      yield* sql`UPDATE strategies SET head_version = 7 WHERE strategy_id = ${broken}`
      const before = yield* stateOf(ids)
      const failed: BrokenHeads = { brokenHeads: [broken] }
      assert.deepStrictEqual(yield* Effect.flip(store.setOwned(owner, { canMirror: true })), failed)
      assert.deepStrictEqual(
        yield* Effect.flip(store.set({ kind: "id", strategyId: broken }, { canMirror: true })),
        failed
      )
      assert.deepStrictEqual(yield* stateOf(ids), before)
      // One that is private is not changed, so its head does not matter.
      yield* sql`UPDATE strategies SET is_public = false WHERE strategy_id = ${broken}`
      assert.lengthOf((yield* store.setOwned(owner, { canMirror: true })).updated, 4)
      yield* sql`UPDATE strategies SET head_version = 1 WHERE strategy_id = ${broken}`
    })
  )

  it.effect("when the listing of one strategy cannot be written, none is changed", () =>
    Effect.gen(function* () {
      const store = yield* MirrorabilityStore
      const sql = yield* SqlClient.SqlClient
      const owner = address()
      const { ids } = yield* ownedBy(owner, open(5))
      const before = yield* stateOf(ids)
      yield* sql`ALTER TABLE discovery_entries
        ADD CONSTRAINT fault CHECK (strategy_id <> ${sql.literal(`'${ids[4]}'`)})`
      const assertRefused = Effect.fnUntraced(function* <A>(attempt: Effect.Effect<A, BrokenHeads>) {
        const exit = yield* Effect.exit(attempt)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.deepStrictEqual(yield* stateOf(ids), before)
      })
      yield* assertRefused(store.setOwned(owner, { canMirror: true }))
      yield* assertRefused(store.set({ kind: "id", strategyId: ids[4]! }, { canMirror: true }))
      yield* sql`ALTER TABLE discovery_entries DROP CONSTRAINT fault`
      assert.deepStrictEqual((yield* store.setOwned(owner, { canMirror: true })).updated, ids)
      assertListed(yield* stateOf(ids))
    })
  )

  it.effect("of many changes at once, with versions published meanwhile, each is whole and the counts add up", () =>
    Effect.gen(function* () {
      const store = yield* MirrorabilityStore
      const strategies = yield* StrategyStore
      const owner = address()
      const { ids } = yield* ownedBy(owner, open(20))
      const publish = (strategyId: Ids.StrategyId) =>
        strategies.publish({ strategyId, allocation: [], changeLog: null, createdAt: noon })
      const [answers] = yield* Effect.all(
        [
          Effect.forEach(Array.from({ length: 40 }), (_, at) => store.setOwned(owner, { canMirror: at % 2 === 0 }), {
            concurrency: "unbounded"
          }),
          Effect.forEach(ids, publish, { concurrency: "unbounded" }),
          Effect.forEach(ids, (strategyId) => store.set({ kind: "id", strategyId }, { canMirror: true }), {
            concurrency: "unbounded"
          })
        ],
        { concurrency: "unbounded" }
      )
      for (const { alreadySet, ownedCount, skippedPrivateCount, updated } of answers) {
        assert.deepStrictEqual([ownedCount, skippedPrivateCount], [20, 0])
        assert.deepStrictEqual([...alreadySet, ...updated].toSorted(), ids)
      }
      assertListed(yield* stateOf(ids))
      yield* store.setOwned(owner, { canMirror: true })
      const last = yield* stateOf(ids)
      assert.isTrue(last.every((row) => row.canMirror && row.isPublic && row.isListed))
    })
  )
})
