/**
 * The lease of the providers' connections, as one key that expires after three seconds unless it is renewed. Its
 * revision when it is acquired is the epoch, and revisions only grow.
 *
 * A holder that cannot renew gives up before the key can be gone, so that two never act as holders for long; and what
 * one that was merely stopped would still write afterwards is refused: by the clock (`isCurrent`), then by its epoch.
 */
import { Clock, Duration, Effect, Option, Queue, Stream } from "effect"
import type { Lease } from "#domain/stream/Backplane.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"
import { attempt, leaseLife, type Nats } from "#layers/stream/nats/connectNats.ts"

const key = "holder"
const renewal = Duration.millis(700)
const retry = Duration.millis(300)
/**
 * Time without a renewal after which the holder gives up: less than the life of the key, by more than a request takes.
 */
const timeout = BigInt(leaseLife - 800) * 1_000_000n

export const holdLease = ({ lease: store }: Nats, workerId: string): Stream.Stream<Option.Option<Lease>> =>
  Stream.callback<Option.Option<Lease>>((queue) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let held: { readonly epoch: number; readonly revision: number; readonly renewedAt: bigint } | undefined

      const isLate = (renewedAt: bigint) => clock.monotonicTimeNanosUnsafe() - renewedAt > timeout
      const lose = Effect.gen(function* () {
        held = undefined
        yield* Queue.offer(queue, Option.none())
      })
      const take = Effect.gen(function* () {
        const renewedAt = clock.monotonicTimeNanosUnsafe()
        const epoch = yield* Effect.option(attempt("lease", () => store.create(key, workerId)))
        if (Option.isNone(epoch)) return yield* sleepRealTime(retry)
        held = { epoch: epoch.value, revision: epoch.value, renewedAt }
        const isCurrent = () => held?.epoch === epoch.value && !isLate(held.renewedAt)
        yield* Queue.offer(queue, Option.some({ epoch: epoch.value, isCurrent }))
      })
      const renew = Effect.fnUntraced(function* (holding: NonNullable<typeof held>) {
        yield* sleepRealTime(renewal)
        const renewedAt = clock.monotonicTimeNanosUnsafe()
        // A process that was stopped checks the time first: it may hold the lease no longer.
        if (isLate(holding.renewedAt)) return yield* lose
        const revision = yield* Effect.option(
          attempt("lease", () => store.update(key, workerId, holding.revision, 700))
        )
        if (Option.isSome(revision)) held = { ...holding, revision: revision.value, renewedAt }
        else if (clock.monotonicTimeNanosUnsafe() - holding.renewedAt > timeout / 2n) yield* lose
      })
      yield* Effect.addFinalizer(() =>
        held === undefined
          ? Effect.void
          : Effect.ignore(attempt("lease", () => store.delete(key, { previousSeq: held?.revision ?? 0 })))
      )
      yield* Queue.offer(queue, Option.none())
      yield* Effect.forever(Effect.suspend(() => (held === undefined ? take : renew(held))))
    })
  )
