/** Port: the counter of the calls of an address in a minute. */
import { Context, type Effect } from "effect"
import type { Allowance } from "#domain/fixedWindows.ts"

export class CallLimits extends Context.Service<
  CallLimits,
  {
    /** Counts one call of an address. */
    readonly arrive: (address: string) => Effect.Effect<Allowance>
  }
>()("ballast/rpc/CallLimits") {}
