/** The shared cache of market data, and that only the holder of its lease writes. */
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { MarketDataStore } from "#domain/marketData/MarketDataStore.ts"
import { eachDatabase } from "#test/support/database.ts"

const at = (seconds: number) => DateTime.makeUnsafe(Date.UTC(2026, 2, 1) + seconds * 1000)
const data = (value: unknown) => ({ name: "global-market", provider: "coingecko", data: value })

eachDatabase("MarketDataStore", (it) => {
  it.effect("one process holds the lease; another gets it when it has ended, with a higher epoch", () =>
    Effect.gen(function* () {
      const store = yield* MarketDataStore
      const first = (yield* store.lead("a", at(0), at(60)))!
      assert.isNull(yield* store.lead("b", at(59), at(119)))
      const again = (yield* store.lead("a", at(30), at(90)))!
      assert.strictEqual(again.epoch, first.epoch)
      assert.isNull(yield* store.lead("b", at(89), at(149)))
      const second = (yield* store.lead("b", at(90), at(150)))!
      assert.isAbove(Number(second.epoch), Number(first.epoch))
      yield* store.resign(second)
      assert.isNotNull(yield* store.lead("a", at(91), at(151)))
      yield* store.resign((yield* store.lead("a", at(92), at(152)))!)
    })
  )

  it.effect("of processes that ask at once, one gets the lease", () =>
    Effect.gen(function* () {
      const store = yield* MarketDataStore
      const asked = yield* Effect.forEach(["p", "q", "r", "s"], (holder) => store.lead(holder, at(200), at(260)), {
        concurrency: "unbounded"
      })
      const leases = asked.filter((lease) => lease !== null)
      assert.lengthOf(leases, 1)
      yield* store.resign(leases[0]!)
    })
  )

  it.effect("a holder whose lease has passed on writes nothing", () =>
    Effect.gen(function* () {
      const store = yield* MarketDataStore
      const old = (yield* store.lead("old", at(300), at(360)))!
      assert.isTrue(yield* store.write(old, { ...data({ from: "old" }), at: at(301) }))
      const young = (yield* store.lead("young", at(361), at(421)))!
      assert.isFalse(yield* store.write(old, { ...data({ from: "late" }), at: at(362) }))
      yield* store.fail(old, { name: "global-market", reason: "late", at: at(363) })
      yield* store.remove(old, ["global-market"])
      const [stored] = yield* store.read(["global-market"])
      assert.deepStrictEqual(stored!.data, { from: "old" })
      assert.isTrue(yield* store.write(young, { ...data({ from: "young" }), at: at(364) }))
      yield* store.resign(young)
    })
  )

  it.effect("what cannot be fetched keeps its data and its revision; each write has a new revision", () =>
    Effect.gen(function* () {
      const store = yield* MarketDataStore
      const lease = (yield* store.lead("w", at(500), at(560)))!
      yield* store.write(lease, { ...data({ n: 1 }), at: at(501) })
      const stateOf = Effect.map(store.states, (states) => states.find(({ name }) => name === "global-market")!)
      const written = yield* stateOf
      yield* store.fail(lease, { name: "global-market", reason: "down", at: at(502) })
      const failed = yield* stateOf
      assert.strictEqual(failed.revision, written.revision)
      assert.deepStrictEqual(failed.fetchedAt, written.fetchedAt)
      assert.strictEqual(failed.attemptedAt.epochMilliseconds, at(502).epochMilliseconds)
      yield* store.fail(lease, { name: "never-fetched", reason: "down", at: at(503) })
      assert.lengthOf(yield* store.read(["never-fetched"]), 0)
      yield* store.write(lease, { ...data({ n: 2, text: "\0 and \ud800" }), at: at(504) })
      assert.isAbove(Number((yield* stateOf).revision), Number(written.revision))
      yield* store.remove(lease, ["global-market", "never-fetched"])
      assert.lengthOf(yield* store.states, 0)
      yield* store.resign(lease)
    })
  )
})
