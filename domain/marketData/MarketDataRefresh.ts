/**
 * Fills the shared cache: of all processes the one that holds the lease fetches what is due, in the order of need and
 * within what the providers allow. What fails keeps its last good data and is tried again after a pause.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { MarketDataJobs, type MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import { MarketDataStore, type DatasetState, type RefreshLease } from "#domain/marketData/MarketDataStore.ts"

/** Longer than a fetch can take, since the lease is renewed before each. */
const leaseLength = Duration.seconds(60)
const tryAgainAfter = Duration.minutes(1)
const pollInterval = Duration.seconds(5)
/** Failures of a provider in a row that end its round: what is left is requested in the next. */
const maxFailures = 3
const minute = 60_000
const orphanLife = Duration.toMillis(Duration.days(14))

/** What is due now, the most needed first: by priority, then what was never fetched, then the oldest. */
export const dueJobs = (
  jobs: ReadonlyArray<MarketDataJob>,
  states: ReadonlyArray<DatasetState>,
  now: number
): ReadonlyArray<MarketDataJob> => {
  const stateOf = new Map(states.map((state) => [state.name, state]))
  const fetchedAt = ({ name }: MarketDataJob) =>
    stateOf.get(name)?.fetchedAt?.epochMilliseconds ?? Number.NEGATIVE_INFINITY
  const isDue = (job: MarketDataJob) => {
    const state = stateOf.get(job.name)
    if (state === undefined) return true
    const age = now - fetchedAt(job)
    const sinceAttempt = now - state.attemptedAt.epochMilliseconds
    return age >= Duration.toMillis(job.interval) && sinceAttempt >= Duration.toMillis(tryAgainAfter)
  }
  return jobs
    .filter(isDue)
    .sort((a, b) => a.priority - b.priority || fetchedAt(a) - fetchedAt(b) || (a.name < b.name ? -1 : 1))
}

/**
 * Fills the shared cache of market data.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `tick` in tests.
 */
export class MarketDataRefresh extends Context.Service<
  MarketDataRefresh,
  {
    /** Fetches what is due, when this process holds the lease. True when it does. */
    readonly tick: Effect.Effect<boolean>
  }
>()("ballast/domain/marketData/MarketDataRefresh") {
  static readonly layer = Layer.effect(
    MarketDataRefresh,
    Effect.gen(function* () {
      const store = yield* MarketDataStore
      const { all, perMinute } = yield* MarketDataJobs
      const holder = yield* (yield* SecureRandom.SecureRandom).ulid
      /** Requests of the present minute, by provider. */
      const spent = new Map<string, { since: number; requests: number }>()
      let held: RefreshLease | null = null

      const lead = Effect.gen(function* () {
        const now = yield* DateTime.now
        held = yield* store.lead(holder, now, DateTime.addDuration(now, leaseLength))
        return held
      })

      const mayRequest = Effect.fnUntraced(function* (provider: MarketDataJob["provider"]) {
        const now = yield* Clock.currentTimeMillis
        const window = spent.get(provider)
        const current = window === undefined || now - window.since >= minute ? { since: now, requests: 0 } : window
        if (current.requests >= perMinute[provider]) return false
        spent.set(provider, { ...current, requests: current.requests + 1 })
        return true
      })

      const refresh = Effect.fnUntraced(function* (job: MarketDataJob) {
        const lease = yield* lead
        if (lease === null) return "lost"
        const result = yield* Effect.result(job.fetch)
        const at = yield* DateTime.now
        if (result._tag === "Failure") {
          yield* Effect.logWarning(`Market data ${job.name} could not be fetched: ${result.failure.reason}`)
          yield* store.fail(lease, { name: job.name, reason: result.failure.reason, at })
          return "failed"
        }
        const { data, problems } = result.success
        const [first] = problems
        if (first !== undefined) {
          yield* Effect.logWarning(`Market data ${job.name} came without ${problems.length} items; ${first.message}`)
        }
        const isWritten = yield* store.write(lease, { name: job.name, provider: job.provider, data, at })
        return isWritten ? "fetched" : "lost"
      })

      /**
       * Datasets that nothing has fetched for long, such as those of tokens that left the catalogue. Not at once: a
       * process that was started without a key must not empty the cache of the others.
       */
      const removeOrphans = Effect.fnUntraced(function* (
        lease: RefreshLease,
        jobs: ReadonlyArray<MarketDataJob>,
        states: ReadonlyArray<DatasetState>
      ) {
        const wanted = new Set(jobs.map(({ name }) => name))
        const before = (yield* Clock.currentTimeMillis) - orphanLife
        const orphans = states
          .filter(({ attemptedAt, name }) => !wanted.has(name) && attemptedAt.epochMilliseconds < before)
          .map(({ name }) => name)
        if (orphans.length > 0) yield* store.remove(lease, orphans)
      })

      const tick = Effect.gen(function* () {
        const lease = yield* lead
        if (lease === null) return false
        const jobs = yield* all
        const states = yield* store.states
        yield* removeOrphans(lease, jobs, states)
        const exhausted = new Set<string>()
        const failures = new Map<string, number>()
        for (const job of dueJobs(jobs, states, yield* Clock.currentTimeMillis)) {
          if (exhausted.has(job.provider)) continue
          if (!(yield* mayRequest(job.provider))) {
            exhausted.add(job.provider)
            continue
          }
          const outcome = yield* refresh(job)
          if (outcome === "lost") return false
          const inARow = outcome === "failed" ? (failures.get(job.provider) ?? 0) + 1 : 0
          failures.set(job.provider, inARow)
          if (inARow >= maxFailures) exhausted.add(job.provider)
        }
        return true
      }).pipe(Effect.withSpan("MarketDataRefresh.tick"))

      yield* Effect.addFinalizer(() => (held === null ? Effect.void : Effect.ignoreCause(store.resign(held))))
      return MarketDataRefresh.of({ tick })
    })
  )

  /** The fiber that ticks for as long as the layer lives; a failed tick is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.flatMap(MarketDataRefresh, ({ tick }) =>
      keepGoingEvery(tick, { complaint: "Market data could not be refreshed", interval: pollInterval })
    )
  )
}
