/** Who may write into the order of events, on a real NATS server with JetStream (`TEST_NATS_URL`). */
import { NodeCrypto } from "@effect/platform-node"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option, Redacted, Stream } from "effect"
import { Backplane, type Lease } from "#domain/stream/Backplane.ts"
import { NatsBackplane } from "#layers/stream/nats/NatsBackplane.ts"
import { tick } from "#test/stream/support/events.ts"
import { forgetDeployment, freshPrefix, hasNats, natsUrl, storedTicks } from "#test/stream/support/nats.ts"

const prefixes: Array<string> = []
const prefixOfTest = () => {
  const prefix = freshPrefix()
  prefixes.push(prefix)
  return prefix
}
afterAll(() => Promise.all(prefixes.map(forgetDeployment)))

const worker = (prefix: string) =>
  Layer.build(
    NatsBackplane({ url: Redacted.make(natsUrl), prefix, eventsPerAsset: 100 }).pipe(Layer.provide(NodeCrypto.layer))
  ).pipe(Effect.map(Context.get(Backplane)))

/**
 * The machine's clock, whose monotonic reading a test moves ahead, as a process that was stopped for a while sees it.
 */
const stoppable = Effect.gen(function* () {
  const machine = yield* Clock.Clock
  let ahead = 0n
  const clock: Clock.Clock = Object.create(machine, {
    monotonicTimeNanosUnsafe: { value: () => machine.monotonicTimeNanosUnsafe() + ahead }
  })
  return {
    clock,
    stopFor: (millis: number) => {
      ahead += BigInt(millis) * 1_000_000n
    }
  }
})

const firstLease = (backplane: Backplane["Service"]) =>
  backplane.leases.pipe(
    Stream.filter(Option.isSome),
    Stream.map(({ value }) => value),
    Stream.take(1),
    Stream.runHead,
    Effect.map(Option.getOrThrow)
  )

const share = (time: number) => tick("equity", "TSLA", time)
const other = (time: number) => tick("equity", "AAPL", time)
const stored = (prefix: string) =>
  Effect.map(
    Effect.promise(() => storedTicks(prefix)),
    (ticks) => ticks.map(({ epoch, startMs, symbol }) => [symbol, startMs, epoch])
  )

describe.skipIf(!hasNats)("the order of events (needs NATS with JetStream at TEST_NATS_URL)", () => {
  it.live("takes nothing of an earlier holder after the first event of a later one, though it be newer", () =>
    Effect.gen(function* () {
      const prefix = prefixOfTest()
      const [first, second] = [yield* worker(prefix), yield* worker(prefix)]
      const earlier: Lease = { epoch: 1, isCurrent: () => true }
      const later: Lease = { epoch: 2, isCurrent: () => true }
      assert.deepStrictEqual(yield* first.append(share(1_000), earlier), Option.none())
      assert.deepStrictEqual(yield* second.append(share(2_000), later), Option.none())
      assert.deepStrictEqual(yield* first.append(share(3_000), earlier), Option.some("fenced"))
      assert.deepStrictEqual(yield* second.append(share(4_000), later), Option.none())
      assert.deepStrictEqual(yield* stored(prefix), [
        ["TSLA", 1_000, 1],
        ["TSLA", 2_000, 2],
        ["TSLA", 4_000, 2]
      ])
    }).pipe(Effect.scoped)
  )

  it.live(
    "takes nothing of a holder that was stopped past its lease, also of assets that no other has written yet",
    () =>
      Effect.gen(function* () {
        const prefix = prefixOfTest()
        const { clock, stopFor } = yield* stoppable
        const backplane = yield* worker(prefix).pipe(Effect.provideService(Clock.Clock, clock))
        const changes: Array<Option.Option<Lease>> = []
        yield* backplane.leases.pipe(
          Stream.runForEach((change) => Effect.sync(() => changes.push(change))),
          Effect.provideService(Clock.Clock, clock),
          Effect.forkScoped
        )
        const latest = () => Option.getOrUndefined(changes.at(-1) ?? Option.none())
        while (latest() === undefined) yield* Effect.sleep("10 millis")
        const lease = latest()!
        assert.deepStrictEqual(yield* backplane.append(share(1_000), lease), Option.none())
        // The process goes on: it has not found out yet that its lease is over.
        stopFor(2_300)
        assert.deepStrictEqual(yield* backplane.append(share(2_000), lease), Option.some("fenced"))
        assert.deepStrictEqual(yield* backplane.append(other(2_000), lease), Option.some("fenced"))
        // It learns of it, and the old lease is over for ever, also when it holds one again.
        while (latest() === undefined || latest()!.epoch === lease.epoch) yield* Effect.sleep("10 millis")
        assert.isAbove(latest()!.epoch, lease.epoch)
        assert.deepStrictEqual(yield* backplane.append(other(3_000), lease), Option.some("fenced"))
        assert.deepStrictEqual(yield* backplane.append(share(3_000), latest()!), Option.none())
        assert.deepStrictEqual(
          (yield* stored(prefix)).map(([symbol, time]) => [symbol, time]),
          [
            ["TSLA", 1_000],
            ["TSLA", 3_000]
          ]
        )
      }).pipe(Effect.scoped)
  )

  it.live("gives the lease to one worker at a time, and a higher epoch to each holder", () =>
    Effect.gen(function* () {
      const prefix = prefixOfTest()
      const epochs: Array<number> = []
      for (let holders = 0; holders < 3; holders += 1) {
        // Each gives the lease back when it ends.
        const { epoch } = yield* Effect.scoped(Effect.flatMap(worker(prefix), firstLease))
        epochs.push(epoch)
      }
      assert.deepStrictEqual(
        epochs,
        [...new Set(epochs)].sort((a, b) => a - b)
      )
      assert.lengthOf(epochs, 3)
    })
  )
})
