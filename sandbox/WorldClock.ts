import { Clock, Context, Deferred, Duration, Effect, Exit, Layer } from "effect"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

/** The world's time in milliseconds, and the count of moves that led to it. */
export interface ClockReading {
  readonly now: number
  readonly version: number
}

interface Follower {
  /** Polls that wait at this moment. */
  waiting: number
  lastSeen: number
}

interface Move {
  readonly version: number
  readonly pending: Set<string>
  readonly followed: Deferred.Deferred<void>
}

const pollLimit = Duration.seconds(25)
const followLimit = Duration.seconds(20)
/** A follower between two polls is still a follower; one whose connection breaks is none until it comes again. */
const absenceMillis = 20_000
const followerLimit = 256

/**
 * The world's clock: real time plus an offset that only grows. Followers (the service) hold a long poll open, so a move
 * reaches them at once.
 */
export class WorldClock extends Context.Service<
  WorldClock,
  {
    readonly read: Effect.Effect<ClockReading>
    /** Answers when the version is above `after`, or after 25 seconds. `follower` names who asks, to be waited for. */
    readonly poll: (after: number, follower: string | undefined) => Effect.Effect<ClockReading>
    /** Moves the clock, and answers when every follower has taken the move up or is gone, or after 20 seconds. */
    readonly advance: (millis: number) => Effect.Effect<ClockReading, SandboxFailure>
  }
>()("ballast/sandbox/WorldClock") {
  static readonly layer = Layer.effect(
    WorldClock,
    Effect.gen(function* () {
      const file = yield* WorldFile
      const followers = new Map<string, Follower>()
      const moves = new Set<Move>()
      let moved = yield* Deferred.make<void>()

      const read = Effect.gen(function* () {
        const { clock } = yield* file.state
        return { now: (yield* Clock.currentTimeMillis) + clock.offset, version: clock.version }
      })

      /** The moves need not wait for the follower any more. */
      const confirm = Effect.fnUntraced(function* (name: string, version: number) {
        for (const move of moves) {
          if (version >= move.version && move.pending.delete(name) && move.pending.size === 0) {
            yield* Deferred.succeed(move.followed, undefined)
          }
        }
      })

      const arrive = Effect.fnUntraced(function* (name: string, after: number) {
        yield* confirm(name, after)
        const lastSeen = yield* Clock.currentTimeMillis
        const follower = followers.get(name) ?? { waiting: 0, lastSeen }
        if (!followers.has(name) && followers.size >= followerLimit) followers.delete(followers.keys().next().value!)
        followers.set(name, follower)
        follower.waiting += 1
        return follower
      })

      const leave = Effect.fnUntraced(function* (name: string, follower: Follower, exit: Exit.Exit<unknown>) {
        follower.waiting -= 1
        follower.lastSeen = yield* Clock.currentTimeMillis
        if (Exit.isSuccess(exit) || follower.waiting > 0 || followers.get(name) !== follower) return
        followers.delete(name)
        yield* confirm(name, Infinity)
      })

      const wait = Effect.fnUntraced(function* (after: number) {
        const { clock } = yield* file.state
        if (clock.version <= after) yield* Deferred.await(moved).pipe(Effect.timeoutOption(pollLimit))
        return yield* read
      })

      const connected = Effect.map(
        Clock.currentTimeMillis,
        (now) =>
          new Set(
            [...followers]
              .filter(([, follower]) => follower.waiting > 0 || now - follower.lastSeen <= absenceMillis)
              .map(([name]) => name)
          )
      )

      return WorldClock.of({
        read,
        poll: Effect.fn("WorldClock.poll")(function* (after, name) {
          if (name === undefined) return yield* wait(after)
          return yield* Effect.acquireUseRelease(
            arrive(name, after),
            () => wait(after),
            (follower, exit) => leave(name, follower, exit)
          )
        }),
        advance: Effect.fn("WorldClock.advance")(function* (millis) {
          yield* file.update((state) => ({
            ...state,
            clock: { offset: state.clock.offset + millis, version: state.clock.version + 1 }
          }))
          const { version } = yield* read
          const move: Move = { version, pending: yield* connected, followed: yield* Deferred.make<void>() }
          moves.add(move)
          const before = moved
          moved = yield* Deferred.make<void>()
          yield* Deferred.succeed(before, undefined)
          if (move.pending.size > 0) yield* Deferred.await(move.followed).pipe(Effect.timeoutOption(followLimit))
          moves.delete(move)
          for (const gone of move.pending) followers.delete(gone)
          return yield* read
        })
      })
    })
  )
}
