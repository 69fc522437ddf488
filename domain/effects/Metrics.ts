/**
 * What the service measures of itself. Names and units are a contract with dashboards and alerts (docs/operations.md);
 * a deployment's collector makes Prometheus names of them, with the unit and `_total` at the end.
 *
 * Every metric has a unit of UCUM, and every attribute a bounded set of values: chains, codes, outcomes and templates
 * of routes; never an id of a tenant, a portfolio or an account, which would make a series each.
 */
import { Metric } from "effect"

/** Seconds, by the convention for HTTP and RPC. */
const latency = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** A metric's unit, which the exporter reads from here; it is no label. */
const unit = (name: string) => ({ attributes: { unit: name } })

/**
 * Seconds from the head of a request to the end of its handling. Attributes: `http.route` (the template, never the
 * path; none for what is no route), `http.request.method`, `http.response.status_code`, `url.scheme`, `error.type` from
 * status 500 on. Not a timer: every request would make a Duration only to have it taken apart.
 */
export const requestDuration = Metric.histogram("http.server.request.duration", {
  description: "Duration of HTTP server requests",
  boundaries: latency,
  ...unit("s")
})

/**
 * Seconds to the answer of a JSON-RPC request to a chain, retries included. Attributes: `rpc.system.name`,
 * `rpc.method`,
 * `ballast.chain.id`, `error.type` when no endpoint gave an answer.
 */
export const chainRequestDuration = Metric.histogram("rpc.client.call.duration", {
  description: "Duration of outbound remote procedure calls",
  boundaries: latency,
  ...unit("s")
})

/**
 * Seconds from the begin of a call of a procedure to its end; of a stream on the interface's wire, to its first value.
 * Attributes: `rpc.system.name` (`json`, the interface's wire; `effect_rpc`), `rpc.method` (`_OTHER` for what is no
 * procedure), `rpc.response.status_code` (the status that the interface's wire has for it), `error.type` (the code of
 * what refused the call, docs/errors.md).
 */
export const procedureDuration = Metric.histogram("rpc.server.call.duration", {
  description: "Duration of inbound remote procedure calls",
  boundaries: latency,
  ...unit("s")
})

/** Times that two endpoints of one chain contradicted each other. Attribute: `chain`. */
export const chainDisagreements = Metric.counter("ballast_chain_disagreements", {
  description: "Times that two endpoints of one chain contradicted each other",
  incremental: true,
  ...unit("{disagreement}")
})

/** Refused requests that a tenant will not find in its list: they came faster than they could be written. */
export const refusedRequestsDropped = Metric.counter("ballast_refused_requests_dropped", {
  description: "Refused requests that were not kept for their tenant",
  incremental: true,
  ...unit("{request}")
})

/** Requests to the attestor to sign a price. Attribute: `outcome` (`signed`, or the code of the refusal). */
export const attestations = Metric.counter("ballast_attestations", {
  description: "Prices that the attestor was asked to sign, by what became of them",
  incremental: true,
  ...unit("{price}")
})

/** Rebalance runs that ended. Attribute: `outcome` (`completed`, `failed`). */
export const rebalanceRuns = Metric.counter("ballast_rebalance_runs", {
  description: "Rebalance runs that ended",
  incremental: true,
  ...unit("{run}")
})

/** Swaps of ended runs. Attributes: `chain`, `outcome` (`traded`, `reverted`), `by` (`venue`, `route`). */
export const rebalanceLegs = Metric.counter("ballast_rebalance_legs", {
  description: "Swaps that rebalance runs sent to a chain",
  incremental: true,
  ...unit("{swap}")
})

/** What ended runs left undone. Attributes: `chain`, `code` (a skip code). */
export const rebalanceSkips = Metric.counter("ballast_rebalance_skips", {
  description: "Parts of rebalance runs that were left undone",
  incremental: true,
  ...unit("{skip}")
})

/**
 * Valuations that runs took before and after what they did. Attribute: `outcome` (`valued`; `missed`: a chain, a price
 * or an open transaction stood in the way, and the next valuation covers the time).
 */
export const runValuations = Metric.counter("ballast_run_valuations", {
  description: "Valuations that runs took",
  incremental: true,
  ...unit("{valuation}")
})

/** Withdrawals that ended. Attribute: `outcome` (`completed`, `failed`, `cancelled`). */
export const withdrawals = Metric.counter("ballast_withdrawals", {
  description: "Withdrawals that ended",
  incremental: true,
  ...unit("{withdrawal}")
})

/**
 * Seconds since the oldest portfolio became due that has not been claimed; 0 when none is. Above a minute is an alarm.
 */
export const oldestDueAge = Metric.gauge("ballast_scheduler_oldest_due_age", {
  description: "Age of the oldest portfolio that is due and unclaimed",
  ...unit("s")
})

/**
 * Due portfolios whose drift was checked. Attribute `outcome`: `on_target` (nothing to do, so no operation), `run`
 * (accepted as an operation, or one is under way), `left` (changed meanwhile, so checked again).
 */
export const driftChecks = Metric.counter("ballast_scheduler_drift_checks", {
  description: "Due portfolios whose drift was checked",
  incremental: true,
  ...unit("{portfolio}")
})

/**
 * Ticks of workflows that wait. Attribute `outcome`: `started` (a run was accepted), `waits` (it waits on, or again),
 * `changed` (it had changed meanwhile, so nothing was done).
 */
export const monitorTicks = Metric.counter("ballast_monitor_ticks", {
  description: "Ticks of waiting workflows",
  incremental: true,
  ...unit("{tick}")
})

/** Seconds since the oldest waiting workflow became due; 0 when none is. Above a minute is an alarm. */
export const oldestMonitorDueAge = Metric.gauge("ballast_monitor_oldest_due_age", {
  description: "Age of the oldest waiting workflow that is due",
  ...unit("s")
})

/** Workflows that failed as often as they may, and wait for an operator. */
export const failedMonitors = Metric.gauge("ballast_monitors_failed", {
  description: "Workflows that have failed",
  ...unit("{workflow}")
})

/** Unix time in seconds at which the scheduler last finished a tick. Its age is the time now minus this value. */
export const schedulerLastTick = Metric.gauge("ballast_scheduler_last_tick", {
  description: "When the scheduler last finished a tick",
  ...unit("s")
})

/**
 * Unix time in seconds of the last pass that measured the strategies of discovery. Above 3 intervals old its metrics
 * are withheld.
 */
export const discoveryLastPass = Metric.gauge("ballast_discovery_last_pass", {
  description: "When the strategies of discovery were last measured",
  ...unit("s")
})

/** Strategies of discovery whose value is unknown, because a portfolio was not valued for days. */
export const discoveryUnknown = Metric.gauge("ballast_discovery_unknown", {
  description: "Strategies of discovery whose value is unknown",
  ...unit("{strategy}")
})

/** Actions that one transaction of a relayer includes, counted when it is signed. Attribute: `chain`. */
export const bundleSize = Metric.histogram("ballast_relay_bundle_size", {
  description: "Actions included by one relayer transaction",
  boundaries: [1, 2, 4, 8, 16, 32],
  ...unit("{action}")
})

/** Units of gas that the service paid for. Attribute: `chain`. */
export const gasSpent = Metric.counter("ballast_gas_spent", {
  description: "Gas that the service paid for",
  incremental: true,
  ...unit("{gas}")
})

/**
 * What was not paid for. Attribute `scope`: `portfolio` or `tenant` (the day's budget is used up), `value` (not worth
 * its gas).
 */
export const gasRefusals = Metric.counter("ballast_gas_refusals", {
  description: "Work that was refused to spare gas",
  incremental: true,
  ...unit("{refusal}")
})

/**
 * Transactions that did not land in time. Attributes: `chain`, `outcome` (`replaced`; `held`, `taken_back`: gas costs
 * more than it is worth; `ceiling`: no higher fee may be paid, an alarm).
 */
export const relayReplacements = Metric.counter("ballast_relay_replacements", {
  description: "Relayer transactions that did not land in time",
  incremental: true,
  ...unit("{transaction}")
})

/**
 * Seconds since the oldest unfinished operation was accepted, or went on after it had waited for its owner. Attribute
 * `state`: `moving` (accepted or running: above a few minutes the engine is stuck), `retrying` (it waits for a chain).
 */
export const oldestStepAge = Metric.gauge("ballast_engine_oldest_step_age", {
  description: "Age of the oldest unfinished operation",
  ...unit("s")
})

/** Whole native tokens that a relayer has left for gas. Attributes: `chain`, `relayer`. */
export const relayerBalance = Metric.gauge("ballast_relayer_balance", {
  description: "Native tokens that a relayer has left for gas",
  ...unit("{token}")
})

/** Runs that wait for an operator; above 0 an operator must act. */
export const runsSuspended = Metric.gauge("ballast_engine_runs_suspended", {
  description: "Runs that are suspended with a cause, until an operator resumes them",
  ...unit("{run}")
})

/** Runs that this process works on. At `MAX_RUNS_IN_FLIGHT` for long, more processes are needed. */
export const runsInFlight = Metric.gauge("ballast_runs_in_flight", {
  description: "Runs that this process works on",
  ...unit("{run}")
})

/** Transfers between chains that are on their way. */
export const transfersOpen = Metric.gauge("ballast_transfers_open", {
  description: "Transfers between chains that are on their way",
  ...unit("{transfer}")
})

/** Seconds since the oldest open transfer left; 0 when none is open. Above an hour an operator should check it. */
export const oldestTransferAge = Metric.gauge("ballast_transfers_oldest_open_age", {
  description: "Age of the oldest open transfer",
  ...unit("s")
})

/** Open transfers that their source chain does not confirm. Anything but 0 is an alarm. */
export const transferDrift = Metric.gauge("ballast_transfers_drift", {
  description: "Open transfers that the source chain does not confirm",
  ...unit("{transfer}")
})

/** Transfers that ended. Attribute: `outcome` (`delivered`, `partial`, `refunded`, `failed`). */
export const transfersEnded = Metric.counter("ballast_transfers_ended", {
  description: "Transfers between chains that ended",
  incremental: true,
  ...unit("{transfer}")
})

/** Streams of operations that this process has open. */
export const streamsOpen = Metric.gauge("ballast_streams_open", {
  description: "Streams of operations that are open",
  ...unit("{stream}")
})

/** Events sent by streams of operations. Attribute: `kind` (that of the event). */
export const streamEvents = Metric.counter("ballast_stream_events", {
  description: "Events sent by streams of operations",
  incremental: true,
  ...unit("{event}")
})

/** Streams that were cut because their client did not read. */
export const streamsCut = Metric.counter("ballast_streams_cut", {
  description: "Streams cut because their client did not read",
  incremental: true,
  ...unit("{stream}")
})

/**
 * Attempts to send an event to a webhook. Attribute: `outcome` (`accepted`, `refused`: any other answer, `unanswered`).
 */
export const webhookAttempts = Metric.counter("ballast_webhook_attempts", {
  description: "Attempts to send an event to a webhook",
  incremental: true,
  ...unit("{attempt}")
})

/** Webhooks that were disabled. Attribute: `reason` (`gone`, `failing`, `secret_unreadable`). */
export const webhooksDisabled = Metric.counter("ballast_webhooks_disabled", {
  description: "Webhooks that were disabled",
  incremental: true,
  ...unit("{webhook}")
})

/**
 * Seconds that the oldest event has been due at a webhook that does not fail; 0 when none is. Above minutes the service
 * does not keep up, or does not send.
 */
export const oldestWebhookAge = Metric.gauge("ballast_webhooks_oldest_due_age", {
  description: "Age of the oldest event that is due at a webhook that does not fail",
  ...unit("s")
})
