/** The plain client: every endpoint of the contract under the name that people expect. */
import { type Call, type ConnectOptions, connectionOfKey, makeCall } from "#client/plain/Call.ts"
import { type Enrollments, enrollmentsOf } from "#client/plain/enrollments.ts"
import { type Events, eventsOf } from "#client/plain/events.ts"
import { type Operations, operationsOf } from "#client/plain/operations.ts"
import { type Portfolios, portfoliosOf } from "#client/plain/portfolios.ts"
import { type Strategies, strategiesOf } from "#client/plain/strategies.ts"
import { type Own, tenantOf } from "#client/plain/tenant.ts"
import { type Webhooks, webhooksOf } from "#client/plain/webhooks.ts"
import { type Withdrawals, withdrawalsOf } from "#client/plain/withdrawals.ts"

/**
 * The API of one deployment, as its key may use it.
 *
 * Every method fails with a `BallastError` and may have the codes of every call: `API_400` for what is not valid, with
 * each field in `details`; `API_101` to `API_104` and `API_106` for the key, its scope and its
 * tenant; `API_004` for too many requests; `API_600` for a fault of the service; `UNREACHABLE` and `UNEXPECTED_ANSWER`
 * for what happens on the way. Other codes are said with each method; docs/errors.md explains all.
 */
export interface Ballast extends Own {
  /** Templates of target weights, with their schedules, preferences and fees. */
  readonly strategies: Strategies
  /** One user's holdings by one strategy. */
  readonly portfolios: Portfolios
  /** Permissions that owners sign. */
  readonly enrollments: Enrollments
  /** What owners take out, by their signature. */
  readonly withdrawals: Withdrawals
  /** What is done and was done. */
  readonly operations: Operations
  /** The log of what happened to all of it. */
  readonly events: Events
  /** The log of events, sent to the tenant's servers. */
  readonly webhooks: Webhooks
  /** Any endpoint by its operation id: `call("whoami", {})`. */
  readonly call: Call
}

/** Connects nothing yet; the first call does. */
export const connect = (options: ConnectOptions): Ballast => {
  const connection = connectionOfKey(options)
  const call = makeCall(connection)
  return {
    ...tenantOf(call),
    strategies: strategiesOf(call),
    portfolios: portfoliosOf(call),
    enrollments: enrollmentsOf(call),
    withdrawals: withdrawalsOf(call),
    operations: operationsOf(call, connection),
    events: eventsOf(call, connection),
    webhooks: webhooksOf(call),
    call
  }
}
