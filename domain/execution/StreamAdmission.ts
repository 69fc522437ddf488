/** Counts the streams of all kinds that are open in this process, and refuses one too many. */
import { Context, Effect, Layer, Metric, Schema, type Scope } from "effect"
import { RateLimited } from "#domain/Errors.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import { type ApiKeyId, SessionId, type TenantId } from "#domain/Ids.ts"
import * as Metrics from "#domain/Metrics.ts"

/** When a refused client should try again. */
const retryAfterSeconds = 10

/** Whose stream it is. */
export interface StreamHolder {
  readonly tenantId: TenantId
  readonly credential: ApiKeyId | SessionId
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
    /** The stream is counted as open until the scope closes. */
    readonly enter: (holder: StreamHolder) => Effect.Effect<void, RateLimited, Scope.Scope>
  }
>()("ballast/domain/execution/StreamAdmission") {
  static readonly layer = Layer.effect(
    StreamAdmission,
    Effect.map(StreamSettings, (settings) => makeAdmission(settings))
  )
}

const isSession = Schema.is(SessionId)

/** What a stream counts under, how many of it may be open, and whose limit that is. */
const countersOf = (settings: StreamSettings["Service"], { address, credential, tenantId }: StreamHolder) => [
  { key: tenantId, max: settings.maxOpenPerTenant, holder: "The tenant" },
  isSession(credential)
    ? { key: credential, max: settings.maxOpenPerSession, holder: "The wallet session" }
    : { key: credential, max: settings.maxOpenPerKey, holder: `The key ${credential}` },
  { key: `from ${address}`, max: settings.maxOpenPerAddress, holder: "The address" }
]

const makeAdmission = (settings: StreamSettings["Service"]) => {
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

  /** One step, so that no two can take the last place. */
  const enter = (holder: StreamHolder) =>
    Effect.suspend(() => {
      if (all >= settings.maxOpen)
        return Effect.fail(refusal(`${settings.maxOpen} streams are open here, the most that one process serves`))
      for (const { key, max, holder: limited } of countersOf(settings, holder)) {
        if ((open.get(key) ?? 0) < max) continue
        return Effect.fail(refusal(`${limited} has ${max} streams open here, the most that it may have`))
      }
      return count(holder, 1)
    })

  return StreamAdmission.of({
    enter: (holder) => Effect.acquireRelease(enter(holder), () => count(holder, -1))
  })
}
