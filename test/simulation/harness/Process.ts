/**
 * A process of the service in a simulation: its fibers run only when the harness lets them, by a clock that only the
 * harness moves.
 *
 * Killed, nothing of it ever runs again: no finalizer, no timer, no answer to what it had asked, as after `kill -9`.
 * Frozen, it stands still for a while and then goes on as if nothing had happened, as a machine does that was
 * suspended.
 */
import {
  Cause,
  Clock,
  Context,
  Duration,
  Effect,
  type Exit,
  type Fiber,
  Logger,
  type LogLevel,
  Scheduler
} from "effect"
import { WebCrypto } from "effect/crypto"
import { createHash } from "node:crypto"
import { WakeQueue } from "#layers/clock/WakeQueue.ts"

type Task = () => void

/** Scheduler by which a fiber that never waits lets others run: as everywhere. */
const yields = new Scheduler.MixedScheduler()

/** Digests without the runtime's threads, which would answer at a time of their own. */
const synchronousCrypto = {
  subtle: {
    digest: (algorithm: string, data: Uint8Array) =>
      Promise.resolve(new Uint8Array(createHash(algorithm.replace("-", "").toLowerCase()).update(data).digest()).buffer)
  }
} as unknown as Crypto

/** What a process writes to its log. */
export interface LogLine {
  readonly level: LogLevel.LogLevel
  readonly text: string
}

export class Process {
  readonly name: string
  readonly #now: () => number
  readonly #tasks: Array<Task> = []
  readonly #sleepers = new WakeQueue()
  readonly #onLog: (line: LogLine) => void
  #isAlive = true
  /** Time until which it stands still. */
  frozenUntil = 0

  constructor(name: string, now: () => number, onLog: (line: LogLine) => void) {
    this.name = name
    this.#now = now
    this.#onLog = onLog
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  get isRunning(): boolean {
    return this.#isAlive && this.frozenUntil <= this.#now()
  }

  get hasTasks(): boolean {
    return this.#tasks.length > 0
  }

  /** Time at which the first of its fibers wakes. */
  get wakesAt(): number | undefined {
    if (!this.#isAlive) return undefined
    const { next } = this.#sleepers
    return next === undefined ? undefined : Math.max(next, this.frozenUntil)
  }

  kill(): void {
    this.#isAlive = false
    this.#tasks.length = 0
  }

  runTask(): void {
    this.#tasks.shift()?.()
  }

  /** Wakes one fiber whose time has come; false when there is none. */
  wakeOne(): boolean {
    for (const sleeper of this.#sleepers.due(this.#now())) {
      sleeper.wake()
      return true
    }
    return false
  }

  /** Answers a fiber that waits, in its turn; a dead process gets no answers. */
  answer(resume: Task): void {
    if (this.#isAlive) this.#tasks.push(resume)
  }

  fork<A, E>(effect: Effect.Effect<A, E>, onExit: (exit: Exit.Exit<A, E>) => void = () => {}): Fiber.Fiber<A, E> {
    const fiber = Effect.runForkWith(this.#services)(effect)
    fiber.addObserver(onExit)
    return fiber
  }

  readonly #clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => this.#now(),
    currentTimeMillis: Effect.sync(() => this.#now()),
    currentTimeNanosUnsafe: () => BigInt(this.#now()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(this.#now()) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(this.#now()) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(this.#now()) * 1_000_000n),
    sleep: (duration) => {
      const millis = Math.ceil(Duration.toMillis(duration))
      if (millis <= 0) return Effect.yieldNow
      if (!Number.isFinite(millis)) return Effect.never
      return Effect.callback<void>((resume) => {
        const wake = () => this.answer(() => resume(Effect.void))
        const cancel = this.#sleepers.add({ wakeAt: this.#now() + millis, wake })
        return Effect.sync(cancel)
      })
    }
  }

  readonly #scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    shouldYield: (fiber) => yields.shouldYield(fiber),
    makeDispatcher: () => ({
      scheduleTask: (task) => this.answer(task),
      flush: () => {
        while (this.hasTasks) this.runTask()
      }
    })
  }

  readonly #logger = Logger.make<unknown, void>(({ cause, logLevel, message }) => {
    const words = (Array.isArray(message) ? message : [message]).map((part) =>
      typeof part === "string"
        ? part
        : part instanceof Error
          ? part.message
          : Cause.isCause(part)
            ? Cause.pretty(part)
            : ""
    )
    const why = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
    this.#onLog({ level: logLevel, text: [...words, ...why].join(" ") })
  })

  readonly #services = Context.make(Clock.Clock, this.#clock).pipe(
    Context.add(Scheduler.Scheduler, this.#scheduler),
    Context.add(WebCrypto.WebCrypto, synchronousCrypto),
    Context.add(Logger.CurrentLoggers, new Set([this.#logger]))
  )
}
