/** Port: the log of each tenant's events. */
import { Context, type DateTime, type Effect } from "effect"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"
import type { TenantId } from "#domain/values/Ids.ts"

/**
 * What can be read of a log now: the first event that is kept and the last; of an empty one the first is the one to
 * come.
 */
export interface LogRange {
  readonly first: number
  readonly last: number
}

/**
 * Where each tenant's events are kept and numbered.
 *
 * **When to use**
 *
 * Use in `TenantEvents` and `WebhookDeliveries`. No service writes here: triggers of the tables do, in the commit of
 * what happened.
 */
export class TenantEventLog extends Context.Service<
  TenantEventLog,
  {
    /** Events after a number, in order; what came since the last read gets its numbers by this. */
    readonly read: (tenantId: TenantId, after: number, limit: number) => Effect.Effect<ReadonlyArray<TenantEvent>>
    /** The range once all that has come has its number. */
    readonly range: (tenantId: TenantId) => Effect.Effect<LogRange>
    /** Those of the tenants whose log may have grown beyond a number, in one statement. */
    readonly grown: (
      seen: ReadonlyArray<{ readonly tenantId: TenantId; readonly sequence: number }>
    ) => Effect.Effect<ReadonlyArray<TenantId>>
    /** Removes at most `limit` events older than `before`; answers how many. */
    readonly prune: (before: DateTime.Utc, limit: number) => Effect.Effect<number>
  }
>()("ballast/domain/event/TenantEventLog") {}
