/** Counts the streams that are open in this process, of whatever they tell, and refuses one too many. */
import { Context, Effect, Layer, Metric, type Scope } from "effect"
import { RateLimited } from "#domain/Errors.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import type { TenantId } from "#domain/Ids.ts"
import * as Metrics from "#domain/Metrics.ts"

/** When a refused client should try again. */
const retryAfterSeconds = 10

export class StreamAdmission extends Context.Service<
  StreamAdmission,
  {
    /** The stream is counted as open until the scope closes. */
    readonly enter: (tenantId: TenantId) => Effect.Effect<void, RateLimited, Scope.Scope>
  }
>()("ballast/domain/execution/StreamAdmission") {
  static readonly layer = Layer.effect(
    StreamAdmission,
    Effect.map(StreamSettings, (settings) => makeAdmission(settings))
  )
}

const makeAdmission = ({ maxOpen, maxOpenPerTenant }: StreamSettings["Service"]) => {
  const open = new Map<TenantId, number>()
  let all = 0

  const count = (tenantId: TenantId, by: 1 | -1) =>
    Effect.suspend(() => {
      all += by
      const ofTenant = (open.get(tenantId) ?? 0) + by
      if (ofTenant === 0) open.delete(tenantId)
      else open.set(tenantId, ofTenant)
      return Metric.update(Metrics.streamsOpen, all)
    })

  const refusal = (message: string) =>
    new RateLimited({ message: `${message}; close some, or retry`, retryAfterSeconds })

  /** One step, so that no two can take the last place. */
  const enter = (tenantId: TenantId) =>
    Effect.suspend(() => {
      if ((open.get(tenantId) ?? 0) >= maxOpenPerTenant)
        return Effect.fail(refusal(`The tenant has ${maxOpenPerTenant} streams open here, the most that it may have`))
      if (all >= maxOpen)
        return Effect.fail(refusal(`${maxOpen} streams are open here, the most that one process serves`))
      return count(tenantId, 1)
    })

  return StreamAdmission.of({
    enter: (tenantId) => Effect.acquireRelease(enter(tenantId), () => count(tenantId, -1))
  })
}
