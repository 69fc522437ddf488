/** The plain client: every endpoint of the contract under the name that people expect. */
import { type Call, type ConnectOptions, makeCall } from "#client/plain/Call.ts"
import { enrollmentsOf } from "#client/plain/enrollments.ts"
import { eventsOf } from "#client/plain/events.ts"
import { operationsOf } from "#client/plain/operations.ts"
import { portfoliosOf } from "#client/plain/portfolios.ts"
import { strategiesOf } from "#client/plain/strategies.ts"
import { tenantOf } from "#client/plain/tenant.ts"
import { webhooksOf } from "#client/plain/webhooks.ts"
import { withdrawalsOf } from "#client/plain/withdrawals.ts"

/** The API of one deployment, as its key may use it. */
export interface Ballast extends ReturnType<typeof tenantOf> {
  readonly strategies: ReturnType<typeof strategiesOf>
  readonly portfolios: ReturnType<typeof portfoliosOf>
  readonly enrollments: ReturnType<typeof enrollmentsOf>
  readonly withdrawals: ReturnType<typeof withdrawalsOf>
  readonly operations: ReturnType<typeof operationsOf>
  readonly events: ReturnType<typeof eventsOf>
  readonly webhooks: ReturnType<typeof webhooksOf>
  /** Any endpoint by its operation id: `call("whoami", {})`. */
  readonly call: Call
}

/** Connects nothing yet; the first call does. */
export const connect = (options: ConnectOptions): Ballast => {
  const call = makeCall(options)
  return {
    ...tenantOf(call),
    strategies: strategiesOf(call),
    portfolios: portfoliosOf(call),
    enrollments: enrollmentsOf(call),
    withdrawals: withdrawalsOf(call),
    operations: operationsOf(call, options),
    events: eventsOf(call, options),
    webhooks: webhooksOf(call),
    call
  }
}
