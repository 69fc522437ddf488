/**
 * Counts the streams of all kinds that are open in this process, refuses one too many, and asks again, for as long as
 * they are open, whether their holders still may: all of them in two statements at each heartbeat, and those of a
 * tenant at once when this process changes who of it may do what.
 */
import { Context, Duration, Effect, FiberSet, Latch, Layer, Metric, type Scope } from "effect"
import { RateLimited } from "#domain/errors/Errors.ts"
import { readScope } from "#domain/execution/ExecutionReaders.ts"
import { StreamPermit } from "#domain/execution/StreamPermit.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { type Credential, isSession, StandingAccess } from "#domain/identity/access/StandingAccess.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { pollWhileOpen } from "#domain/effects/pollWhileOpen.ts"

/** Seconds after which a refused client should try again. */
const retryAfterSeconds = 10

/** Whose stream it is. */
export interface StreamHolder {
  readonly tenantId: TenantId
  readonly credential: Credential
  readonly address: string
}

/**
 * Counts open streams.
 *
 * **When to use**
 *
 * Use before a stream is answered, in the scope in which it is open.
 */
export class StreamAdmission extends Context.Service<
  StreamAdmission,
  {
    /** The stream is counted as open until the scope closes. Whoever answers it ends it with its permit. */
    readonly enter: (holder: StreamHolder) => Effect.Effect<StreamPermit, RateLimited, Scope.Scope>
  }
>()("ballast/domain/execution/StreamAdmission") {
  static readonly layer = Layer.effect(
    StreamAdmission,
    Effect.gen(function* () {
      const settings = yield* StreamSettings
      const access = yield* StandingAccess
      const changes = yield* AccessChanges
      const run = yield* FiberSet.makeRuntime()
      const permits = new Map<StreamPermit, StreamHolder>()
      const hasStreams = Latch.makeUnsafe(false)
      const { count, refusalOf } = makeCounters(settings)

      /** Ends the streams of those that may have none any more. */
      const askAgain = Effect.fn("StreamAdmission.askAgain")(function* (isAsked: (holder: StreamHolder) => boolean) {
        const asked = [...permits].filter(([, holder]) => isAsked(holder))
        if (asked.length === 0) return
        const credentials = new Set(asked.map(([, { credential }]) => credential))
        const refused = yield* access.refusals([...credentials], readScope)
        const tenants = new Set<TenantId>()
        for (const [permit, { credential, tenantId }] of asked) {
          const why = refused.get(credential)
          if (why === undefined) continue
          // It is counted until it has closed, and asked for no more.
          permits.delete(permit)
          permit.end(why)
          tenants.add(tenantId)
        }
        // A client that comes back at once is not let in by what is remembered of its key.
        yield* Effect.forEach(tenants, changes.changed, { discard: true })
      })

      const complaint = "Who has streams open could not be judged again"
      yield* pollWhileOpen(
        hasStreams,
        askAgain(() => true),
        { complaint, interval: Duration.millis(settings.recheckIntervalMs) }
      )
      // What fails here is asked again at the next heartbeat.
      yield* changes.onChange((tenantId) =>
        run(
          Effect.catchCause(
            askAgain((holder) => holder.tenantId === tenantId),
            (cause) => Effect.logWarning(complaint, cause)
          )
        )
      )

      /** One step, so that no two can take the last position. */
      const take = (holder: StreamHolder) =>
        Effect.suspend(() => {
          const refusal = refusalOf(holder)
          if (refusal !== undefined) return Effect.fail(refusal)
          const permit = new StreamPermit()
          permits.set(permit, holder)
          hasStreams.openUnsafe()
          return Effect.as(count(holder, 1), permit)
        })

      const leave = (holder: StreamHolder, permit: StreamPermit) =>
        Effect.suspend(() => {
          permits.delete(permit)
          if (permits.size === 0) hasStreams.closeUnsafe()
          return count(holder, -1)
        })

      return StreamAdmission.of({
        enter: (holder) => Effect.acquireRelease(take(holder), (permit) => leave(holder, permit))
      })
    })
  )
}

/**
 * What a stream counts under, how many of it may be open, and whose limit that is. Keys and wallet sessions are counted
 * apart: whatever sessions take, and anybody has those, keys have what is theirs.
 */
const countersOf = (settings: StreamSettings["Service"], { address, credential, tenantId }: StreamHolder) =>
  isSession(credential)
    ? [
        { key: credential, max: settings.maxOpenPerSession, holder: "The wallet session has" },
        {
          key: `sessions from ${address}`,
          max: settings.maxOpenOfSessionsPerAddress,
          holder: "Wallet sessions of the address have"
        },
        {
          key: `sessions of ${tenantId}`,
          max: settings.maxOpenOfSessionsPerTenant,
          holder: "Wallet sessions of the tenant have"
        },
        { key: "sessions", max: settings.maxOpenOfSessions, holder: "All wallet sessions have" }
      ]
    : [
        { key: tenantId, max: settings.maxOpenPerTenant, holder: "The tenant has" },
        { key: credential, max: settings.maxOpenPerKey, holder: `The key ${credential} has` },
        { key: `from ${address}`, max: settings.maxOpenPerAddress, holder: "The address has" }
      ]

const makeCounters = (settings: StreamSettings["Service"]) => {
  const open = new Map<string, number>()
  let all = 0

  const count = (holder: StreamHolder, by: 1 | -1) =>
    Effect.suspend(() => {
      all += by
      for (const { key } of countersOf(settings, holder)) {
        const now = (open.get(key) ?? 0) + by
        if (now === 0) open.delete(key)
        else open.set(key, now)
      }
      return Metric.update(Metrics.streamsOpen, all)
    })

  const refusal = (message: string) =>
    new RateLimited({ message: `${message}; close some, or retry`, retryAfterSeconds })

  /** Why one more stream of the holder is not opened; undefined where it is. */
  const refusalOf = (holder: StreamHolder): RateLimited | undefined => {
    if (all >= settings.maxOpen)
      return refusal(`${settings.maxOpen} streams are open here, the most that one process serves`)
    for (const { key, max, holder: limited } of countersOf(settings, holder))
      if ((open.get(key) ?? 0) >= max) return refusal(`${limited} ${max} streams open here, the most that may be`)
    return undefined
  }

  return { count, refusalOf }
}
