/** What the stream worker measures of itself. Names and units are a contract with dashboards (docs/operations.md). */
import { Metric } from "effect"

/** Sockets that are open now. */
export const openSockets = Metric.gauge("ballast_stream_sockets", {
  description: "Open market-data sockets",
  attributes: { unit: "{socket}" }
})

/** Handshakes and requests that were refused. Attribute: `error`. */
export const refusals = Metric.counter("ballast_stream_refusals", {
  description: "Market-data handshakes and requests that were refused",
  incremental: true,
  attributes: { unit: "{refusal}" }
})

/** Sockets that the worker closed. Attribute: `code`. */
export const closedSockets = Metric.counter("ballast_stream_closed", {
  description: "Market-data sockets that the worker closed",
  incremental: true,
  attributes: { unit: "{socket}" }
})

/** Events that were given a position. Attribute: `provider`. */
export const events = Metric.counter("ballast_stream_market_events", {
  description: "Market events passed on",
  incremental: true,
  attributes: { unit: "{event}" }
})

/** Entries of providers that were not passed on. Attributes: `provider`, `reason`. */
export const dropped = Metric.counter("ballast_stream_market_dropped", {
  description: "Entries of market-data providers that were dropped",
  incremental: true,
  attributes: { unit: "{entry}" }
})
